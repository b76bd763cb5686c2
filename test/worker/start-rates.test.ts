import { describe, expect, it } from 'vitest'
import type { Treadle, TreadleOptions } from '../../src/app/treadle.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { defaultStartMs, ManualClock } from '../../src/testing/manual-clock.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { gate, until, worldOn } from '../world.ts'
import { end } from './standing-world.ts'

const quiet = { signals: false, lease: '9s', grace: 0, poll: '1s' } as const

/** A program that gets the answer to its first claim of a job late, so that its jobs start together with the next ones. */
function lateWorld(options: TreadleOptions = {}) {
  const clock = new ManualClock()
  const sound = openMemory({ clock })
  const answer = gate()
  const state = { isClaimed: false, renewed: [] as string[] }
  const late = overlaid<WholeBackend>(sound, {
    async lease(request) {
      const batch = await sound.lease(request)
      if (batch.leases.length === 0) return batch
      state.isClaimed = true
      await answer.opened
      return batch
    },
    async extend(tokens, leaseMs) {
      state.renewed.push(...tokens)
      return sound.extend(tokens, leaseMs)
    },
  })
  const made = worldOn(late, clock, options)
  const begins: number[] = []
  /** Works, with the first answer so late. */
  const workLate = async (lateMs: number, how: object = {}) => {
    const working = made.jobs.work({ ...quiet, ...how })
    await until(() => state.isClaimed)
    await clock.advance(lateMs)
    answer.open()
    await clock.advance(0)
    return { working }
  }
  return { ...made, answer, state, begins, workLate, begin: () => void begins.push(clock.now() - defaultStartMs) }
}

type Limited = ReturnType<Treadle['define']>

const limits: readonly (readonly [string, TreadleOptions, (job: Limited) => Limited])[] = [
  ['a job', {}, (job) => job.rate(2, '1s')],
  ['a queue', { queues: { mail: { rate: { limit: 2, per: '1s' } } } }, (job) => job.queue('mail')],
  ['a group', {}, (job) => job.group('ada', { rate: { limit: 2, per: '1s' } })],
]

describe('handlers', () => {
  it.each(limits)(
    'under the rate of %s begin no more often in any window, retries among them, where claims came late',
    async (...given) => {
      const [, options, limited] = given
      const { jobs, clock, begins, begin, workLate } = lateWorld(options)
      const job = limited(
        jobs.define('mail', (_, ctx) => {
          begin()
          if (ctx.attempt === 1) throw new Error('once more')
        }),
      ).retries(1, { strategy: 'none' })
      await job.dispatchMany([1, 2, 3, 4])
      const { working } = await workLate(900)
      for (let tick = 0; tick < 100; tick++) await clock.advance(100)
      expect(begins).toHaveLength(8)
      expect(begins.filter((at, index) => index >= 2 && at - (begins[index - 2] as number) < 1_000)).toEqual([])
      await end(jobs, working, clock)
    },
  )

  it('of each group keep to a rate of their own', async () => {
    const { jobs, clock, workLate } = lateWorld()
    const begins: string[] = []
    const job = jobs
      .define('mail', (name: string) => void begins.push(`${name} ${clock.now() - defaultStartMs}`))
      .group((name) => name, { rate: { limit: 1, per: '1s' } })
    await job.dispatch('ada')
    const { working } = await workLate(900)
    await job.dispatch('ada')
    await job.dispatch('bob')
    await clock.advance(1_500)
    expect(begins).toEqual(['ada 900', 'bob 900', 'ada 1900'])
    await end(jobs, working, clock)
  })

  it('that are held back take no slot from others', async () => {
    const { jobs, clock, begins, begin, workLate } = lateWorld()
    const mail = jobs.define('mail', begin).rate(1, '1s')
    await mail.dispatchMany([1, 2])
    const { working } = await workLate(900, { concurrency: 1 })
    await clock.advance(500)
    expect(begins).toEqual([900])
    const other = await jobs.define('other', () => clock.now() - defaultStartMs).dispatch()
    await clock.advance(100)
    expect(await other.result()).toBeLessThan(1_900)
    await clock.advance(500)
    expect(begins).toEqual([900, 1_900])
    await end(jobs, working, clock)
  })

  it('are counted over passes that follow each other', async () => {
    const { jobs, clock, begins, begin, answer, state } = lateWorld()
    await jobs.define('mail', begin).rate(1, '1s').dispatchMany([1, 2])
    const first = jobs.run()
    await until(() => state.isClaimed)
    await clock.advance(900)
    answer.open()
    await first
    await clock.advance(100)
    const second = jobs.run()
    await clock.advance(1_000)
    expect(await second).toMatchObject({ succeeded: 1 })
    expect(begins).toEqual([900, 1_900])
  })

  it('wait for their turn after a slow hook, and that does not count to their timeout', async () => {
    const { jobs, clock, begins, begin, answer } = lateWorld()
    answer.open()
    const hook = gate()
    const mail = jobs
      .define('mail', async (n: number) => {
        begin()
        if (n === 2) await new Promise<void>((resolve) => void clock.timer(200, resolve))
      })
      .before(async (n) => {
        if (n === 1) await hook.opened
      })
      .rate(1, '1s')
      .timeout('950ms')
      .retries(0)
    const runs = await mail.dispatchMany([1, 2])
    const working = jobs.work(quiet)
    await clock.advance(900)
    hook.open()
    await clock.advance(3_000)
    await Promise.all(runs.map((run) => run.result()))
    expect(begins).toEqual([900, 1_900])
    await end(jobs, working, clock)
  })
})

describe('a job that its rate holds back in the worker', () => {
  async function heldWorld({ rate = '1s', lateMs = 900 } = {}) {
    const made = lateWorld()
    const mail = made.jobs.define('mail', made.begin).rate(1, rate)
    await mail.dispatch(1)
    const held = await mail.dispatch(2)
    return { ...made, held, ...(await made.workLate(lateMs)) }
  }

  it('goes back to the queue where that would take too long, and uses up no attempt', async () => {
    const { jobs, clock, begins, held, record, working } = await heldWorld({ rate: '10s', lateMs: 5_000 })
    await clock.advance(5_000)
    expect(await record(held)).toMatchObject({ state: 'scheduled', attempts: 0, runAt: defaultStartMs + 15_000 })
    await clock.advance(30_000)
    expect(await record(held)).toMatchObject({ state: 'succeeded', attempts: 1, rescues: 0 })
    expect(begins[0]).toBe(5_000)
    expect(begins[1]).toBeGreaterThanOrEqual(15_000)
    await end(jobs, working, clock)
  })

  it('is renewed meanwhile', async () => {
    const { jobs, clock, state, held, record, working } = await heldWorld({ rate: '8s', lateMs: 1_900 })
    await clock.advance(6_200)
    expect((await record(held)).state).toBe('running')
    state.renewed = []
    await clock.advance(1_500)
    expect(state.renewed).toHaveLength(1)
    expect((await record(held)).state).toBe('running')
    await end(jobs, working, clock)
  })

  it('goes back at once where the worker stops', async () => {
    const { jobs, clock, begins, held, record, working } = await heldWorld()
    await clock.advance(200)
    expect((await record(held)).state).toBe('running')
    await jobs.stop()
    await working
    expect(await record(held)).toMatchObject({ state: 'ready', attempts: 0 })
    await clock.advance(5_000)
    expect(begins).toEqual([900])
  })

  it('can be cancelled, and its handler is not called', async () => {
    const { jobs, clock, begins, held, record, working } = await heldWorld()
    await clock.advance(200)
    await held.cancel()
    await clock.advance(2_000)
    expect((await record(held)).state).toBe('cancelled')
    expect(begins).toEqual([900])
    await end(jobs, working, clock)
  })
})

describe('a job that is held back after a slow filter', () => {
  function filteredWorld(perMs: number) {
    const made = lateWorld()
    made.answer.open()
    const filter = gate()
    const mail = made.jobs
      .define('mail', (_: number) => made.begin())
      .when(async (n) => {
        if (n === 1) await filter.opened
        return true
      })
      .rate(1, `${perMs}ms`)
      .delivery('at-most-once')
    return { ...made, filter, mail }
  }

  it('and must not begin twice goes back before it has begun', async () => {
    const { jobs, clock, begins, filter, mail, record } = filteredWorld(10_000)
    await mail.dispatch(1)
    const second = await mail.dispatch(2)
    const working = jobs.work(quiet)
    await clock.advance(5_000)
    filter.open()
    await clock.advance(6_000)
    expect(await record(second)).toMatchObject({ state: 'scheduled', attempts: 0 })
    await clock.advance(30_000)
    expect((await record(second)).state).toBe('succeeded')
    expect(begins).toHaveLength(2)
    await end(jobs, working, clock)
  })

  it.each(['stop', 'cancel'] as const)('ends its wait on %s', async (what) => {
    const { jobs, clock, begins, filter, mail, record } = filteredWorld(1_000)
    await mail.dispatch(1)
    const second = await mail.dispatch(2)
    const working = jobs.work(quiet)
    await clock.advance(900)
    filter.open()
    await clock.advance(200)
    expect((await record(second)).state).toBe('running')
    const done = what === 'stop' ? jobs.stop({ abort: true }) : second.cancel()
    await clock.advance(100)
    await done
    await until(async () => (await record(second)).state !== 'running')
    expect(await record(second)).toMatchObject({ state: what === 'stop' ? 'ready' : 'cancelled' })
    expect(begins).toEqual([900])
    await end(jobs, working, clock)
  })
})
