import { describe, expect, it } from 'vitest'
import type { TreadleError } from '../../../src/core/errors.ts'
import { nothingBuried } from '../../../src/worker/supervisor/casualties.ts'
import { RestartDelay } from '../../../src/worker/supervisor/restart-delay.ts'
import { Fleet } from './fleet.ts'

describe('a worker process that dies', () => {
  it('is followed by another one in its place, and the others are left alone (R17)', async () => {
    const fleet = new Fleet({ processes: 3 })
    await fleet.start()
    fleet.get(2).exits({ code: null, signal: 'SIGSEGV' })
    await fleet.clock.advance(249)
    expect(fleet.living.map(({ pid }) => pid)).toEqual([1, 3])
    await fleet.clock.advance(1)
    expect(fleet.living.map(({ pid, place }) => [pid, place])).toEqual([
      [1, 1],
      [3, 3],
      [4, 2],
    ])
    expect(fleet.last('child:ended')).toMatchObject({ child: 2, pid: 2, signal: 'SIGSEGV', expected: false, restartInMs: 250 })
  })

  it('has its jobs returned at once, under the name that it claimed them with', async () => {
    const fleet = new Fleet({ processes: 1 })
    fleet.bury = async () => ({ ...nothingBuried, returned: 3, poisoned: 1 })
    await fleet.start()
    fleet.get(1).exits()
    await fleet.turn()
    expect(fleet.buried).toEqual([{ owner: 'owner-1', overdue: [] }])
    expect(fleet.last('child:ended')).toMatchObject({ returned: 3, poisoned: 1 })
  })

  it('is followed all the same when the database cannot be reached', async () => {
    const fleet = new Fleet({ processes: 1 })
    fleet.bury = () => Promise.reject(new Error('no route'))
    await fleet.start()
    fleet.get(1).exits()
    await fleet.clock.advance(250)
    expect(fleet.living).toHaveLength(1)
    expect(fleet.names()).toContain('supervisor:error')
  })

  it('again and again is started more and more slowly, until one lives for long', async () => {
    const fleet = new Fleet({ processes: 1 })
    await fleet.start()
    const delays: unknown[] = []
    const die = async () => {
      fleet.living[0]?.exits()
      await fleet.turn()
      const { restartInMs } = fleet.last('child:ended') as unknown as { restartInMs: number }
      delays.push(restartInMs)
      await fleet.clock.advance(restartInMs)
      fleet.living[0]?.ready()
    }
    for (let death = 0; death < 9; death++) await die()
    expect(delays).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
    await fleet.clock.advance(60_000)
    await die()
    expect(delays.at(-1)).toBe(250)
  })

  it('waits by chance a little more or less, so that many do not start together', () => {
    const spread = [0, 0.999].map((chance) => new RestartDelay().next(0, () => chance))
    expect(spread).toEqual([188, 312])
  })
})

describe('a worker process that cannot start', () => {
  it('for a reason that does not go away ends the whole after three in a row, with that reason', async () => {
    const fleet = new Fleet({ processes: 1 })
    fleet.begin()
    for (let start = 0; start < 3; start++) {
      fleet.living[0]?.fails('CONFIG_INVALID', 'unknown option "conkurrency"')
      await fleet.clock.advance(1_000)
    }
    await expect(fleet.ended).rejects.toMatchObject({
      failure: { code: 'CONFIG_INVALID', message: 'unknown option "conkurrency"' },
    })
    expect(fleet.processes).toHaveLength(3)
  })

  it.each(['DATABASE_BUSY', 'DATABASE_FAILED'] satisfies TreadleError['code'][])(
    'because of %s is tried for ever: it may be over by the next time',
    async (code) => {
      const fleet = new Fleet({ processes: 1 })
      fleet.begin()
      for (let start = 0; start < 10; start++) {
        fleet.living[0]?.fails(code)
        await fleet.clock.advance(30_000)
      }
      expect(fleet.living).toHaveLength(1)
    },
  )

  it('is counted anew once one has started', async () => {
    const fleet = new Fleet({ processes: 1 })
    fleet.begin()
    for (let round = 0; round < 3; round++) {
      for (let start = 0; start < 2; start++) {
        fleet.living[0]?.fails('CONFIG_INVALID')
        await fleet.clock.advance(30_000)
      }
      fleet.living[0]?.ready()
      await fleet.turn()
      fleet.living[0]?.exits()
      await fleet.clock.advance(30_000)
    }
    expect(fleet.living).toHaveLength(1)
  })

  it('takes none with it that works', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.get(2).exits()
    for (let start = 0; start < 5; start++) {
      await fleet.clock.advance(30_000)
      fleet.living.find(({ place }) => place === 2)?.fails('DEFINITION_INVALID')
    }
    expect(fleet.get(1)).toMatchObject({ isAlive: true, orders: [] })
  })
})
