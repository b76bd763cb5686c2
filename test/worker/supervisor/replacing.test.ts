import { describe, expect, it } from 'vitest'
import { Fleet } from './fleet.ts'

const mb = 1024 * 1024

describe('rolling', () => {
  it('starts a new process, waits until it works, drains the old one, and goes on to the next', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.supervisor.roll()
    await fleet.clock.advance(10_000)
    expect(fleet.processes.map(({ place, orders }) => [place, orders])).toEqual([
      [1, []],
      [2, []],
      [1, []],
    ])
    fleet.get(3).ready()
    await fleet.turn()
    expect(fleet.get(1).orders).toEqual(['drain'])
    expect(fleet.living).toHaveLength(3)
    fleet.get(1).ends()
    await fleet.turn()
    expect(fleet.living.map(({ pid, place }) => [pid, place])).toEqual([
      [2, 2],
      [3, 1],
      [4, 2],
    ])
    fleet.get(4).ready()
    await fleet.turn()
    fleet.get(2).ends()
    await fleet.turn()
    expect(fleet.living.map(({ pid }) => pid)).toEqual([3, 4])
    expect(fleet.last('roll:ended')).toMatchObject({ replaced: 2 })
    await fleet.clock.advance(60_000)
    expect(fleet.processes).toHaveLength(4)
  })

  it('is given up when a new process cannot start: the old ones go on', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.supervisor.roll()
    fleet.get(3).fails('CONFIG_LOAD_FAILED', 'syntax error')
    await fleet.clock.advance(60_000)
    expect(fleet.living.map(({ pid, orders }) => [pid, orders])).toEqual([
      [1, []],
      [2, []],
    ])
    expect(fleet.last('roll:failed')).toMatchObject({ replaced: 0, failure: { message: 'syntax error' } })
    expect(fleet.names()).not.toContain('roll:ended')
  })

  it('starts none beside it where the old one dies while the new one starts', async () => {
    const fleet = new Fleet({ processes: 1 })
    await fleet.start()
    fleet.supervisor.roll()
    fleet.get(1).exits()
    await fleet.clock.advance(60_000)
    expect(fleet.living.map(({ pid }) => pid)).toEqual([2])
    fleet.get(2).ready()
    await fleet.turn()
    expect(fleet.last('roll:ended')).toMatchObject({ replaced: 1 })
  })

  it('leaves no place empty where the old one and the new one die', async () => {
    const fleet = new Fleet({ processes: 1 })
    await fleet.start()
    fleet.supervisor.roll()
    fleet.get(1).exits()
    await fleet.turn()
    fleet.get(2).exits()
    await fleet.clock.advance(60_000)
    expect(fleet.living).toHaveLength(1)
  })

  it('asked for once more while it goes on replaces what it has replaced already', async () => {
    const fleet = new Fleet({ processes: 1 })
    await fleet.start()
    fleet.supervisor.roll()
    fleet.get(2).ready()
    await fleet.turn()
    fleet.supervisor.roll()
    fleet.get(1).ends()
    await fleet.turn()
    fleet.get(3).ready()
    await fleet.turn()
    expect(fleet.get(2).orders).toEqual(['drain'])
    fleet.get(2).ends()
    await fleet.turn()
    expect(fleet.living.map(({ pid }) => pid)).toEqual([3])
  })

  it('kills an old process that does not end in the time that it has', async () => {
    const fleet = new Fleet({ processes: 1 }, '30s')
    await fleet.start()
    fleet.supervisor.roll()
    fleet.get(2).ready()
    await fleet.clock.advance(44_999)
    expect(fleet.get(1).orders).toEqual(['drain'])
    await fleet.clock.advance(1)
    expect(fleet.get(1).orders).toEqual(['drain', 'kill'])
    expect(fleet.living.map(({ pid }) => pid)).toEqual([2])
  })

  it('ends with the whole', async () => {
    const fleet = new Fleet({ processes: 2 })
    await fleet.start()
    fleet.supervisor.roll()
    fleet.supervisor.stop()
    expect(fleet.living.map(({ orders }) => orders)).toEqual([['drain'], ['drain'], ['drain']])
    for (const each of fleet.living) each.ends({ succeeded: 1 })
    await fleet.turn()
    expect(await fleet.ended).toMatchObject({ succeeded: 3, started: 3, died: 0 })
    expect(fleet.names()).not.toContain('roll:ended')
  })
})

describe('a worker process that is worn', () => {
  it.each([
    ['jobs', { maxJobs: 100 }, 100, 0],
    ['memory', { maxMemoryBytes: 512 * mb }, 1, 512 * mb],
  ] as const)('by its %s is replaced by a new one before it is drained', async (why, limits, jobs, rssBytes) => {
    const fleet = new Fleet({ processes: 2, ...limits })
    await fleet.start()
    fleet.get(1).uses(jobs - 1, rssBytes - 1)
    await fleet.clock.advance(5_000)
    expect(fleet.processes).toHaveLength(2)
    fleet.get(1).uses(jobs, rssBytes)
    await fleet.clock.advance(1_000)
    expect(fleet.last('child:replaced')).toMatchObject({ child: 1, why })
    expect(fleet.get(1).orders).toEqual([])
    fleet.get(3).ready()
    await fleet.turn()
    expect(fleet.get(1).orders).toEqual(['drain'])
  })

  it('by a handler that it had to leave behind is replaced without any limit', async () => {
    const fleet = new Fleet({ processes: 1 })
    await fleet.start()
    fleet.get(1).listener.onMessage({ kind: 'abandoned' })
    await fleet.clock.advance(1_000)
    expect(fleet.last('child:replaced')).toMatchObject({ child: 1, why: 'abandoned' })
  })

  it('waits for its turn while another one is replaced', async () => {
    const fleet = new Fleet({ processes: 3, maxJobs: 10 })
    await fleet.start()
    for (const each of fleet.living) each.uses(10)
    await fleet.clock.advance(20_000)
    expect(fleet.living).toHaveLength(4)
    fleet.get(4).ready()
    await fleet.turn()
    fleet.get(1).ends()
    await fleet.turn()
    expect(fleet.living.map(({ pid }) => pid)).toEqual([2, 3, 4, 5])
  })

  it('goes on where the new one cannot start, which is tried again more and more slowly', async () => {
    const fleet = new Fleet({ processes: 1, maxJobs: 10 })
    await fleet.start()
    fleet.get(1).uses(10)
    for (let second = 0; second < 12; second++) {
      await fleet.clock.advance(1_000)
      fleet.living.find(({ pid }) => pid > 1)?.fails('CONFIG_INVALID')
    }
    await fleet.turn()
    expect(fleet.get(1)).toMatchObject({ isAlive: true, orders: [] })
    expect(fleet.processes.length).toBeLessThan(8)
    await fleet.clock.advance(60_000)
    fleet.living.at(-1)?.ready()
    await fleet.turn()
    expect(fleet.get(1).orders).toEqual(['drain'])
  })
})
