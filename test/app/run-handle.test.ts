import { describe, expect, it } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { CountOptions } from '../../src/queue/contract/store.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { gate, until, world, worldOn } from '../world.ts'

const quiet = { signals: false } as const

describe('the handle of a run', () => {
  it('follows its state', async () => {
    const { jobs, clock } = world()
    const { open, opened } = gate()
    const job = jobs.define('mail', () => opened)
    const run = await job.delay('1s').dispatch()
    const seen = [await run.state()]
    await clock.advance(1_000)
    const pass = jobs.run()
    await until(async () => (await run.state()) === 'running')
    open()
    await pass
    seen.push(await run.state())
    expect(seen).toEqual(['scheduled', 'succeeded'])
  })

  it('puts a job back that has ended, and a workflow with all jobs that did not succeed', async () => {
    const { jobs } = world()
    let isBroken = true
    const step = jobs.define('step', (n: number) => {
      if (isBroken && n === 2) throw new Error('not yet')
      return n
    })
    const alone = await step.dispatch(2)
    const flow = await jobs.chain([step.step(1), step.step(2), step.step(3)])
    expect([await alone.retry(), await jobs.handle(flow.id).retry()]).toEqual([false, false])
    await jobs.run()
    expect([await alone.state(), (await flow.tree()).counts]).toMatchObject(['dead', { succeeded: 1, dead: 2 }])
    isBroken = false
    expect([await alone.retry(), await jobs.handle(flow.id).retry()]).toEqual([true, true])
    await jobs.run()
    expect([await alone.result(), await jobs.handle(flow.id).result()]).toEqual([2, [1, 2, 3]])
    await expect(jobs.handle('nowhere').retry()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
  })

  it('gives the result as soon as this program has it, without a look at the clock', async () => {
    const { jobs, clock } = world()
    const before = clock.now()
    const job = jobs.define('double', async (number: number) => number * 2)
    const working = jobs.work(quiet)
    expect(await (await job.dispatch(21)).result()).toBe(42)
    expect(clock.now()).toBe(before)
    await jobs.stop()
    await working
  })

  it('gives the result of a job that another program runs', async () => {
    const worker = world()
    const client = worker.other()
    worker.jobs.define('double', async (number: number) => number * 2)
    const run = await client.jobs.declare<number, number>('double').dispatch(21)
    const result = run.result()
    await worker.jobs.run()
    await worker.clock.advance(1_000)
    expect(await result).toBe(42)
  })

  it('gives the result again to whoever asks, also by its id, before anything else was asked of the instance', async () => {
    const { jobs, other } = world()
    const run = await jobs.define('mail', async () => ({ sent: true })).dispatch()
    await jobs.run()
    const { jobs: later } = other()
    expect(await later.handle(run.id).result({ timeout: '1s' })).toEqual({ sent: true })
    expect(await run.result()).toEqual({ sent: true })
  })

  it('gives up waiting after its timeout, and says how the job stands', async () => {
    const { jobs, clock } = world()
    const run = await jobs
      .define('mail', async () => {})
      .delay('1h')
      .dispatch()
    const waiting = expect(run.result({ timeout: '10s' })).rejects.toThrow(
      expect.objectContaining({
        code: 'WAIT_TIMEOUT',
        message: `Job "mail" (${run.id}) is scheduled and did not end within 10s`,
      }),
    )
    await clock.advance(10_000)
    await waiting
    await expect(run.result({ timeout: 0 })).rejects.toThrow(expect.objectContaining({ code: 'WAIT_TIMEOUT' }))
    expect(clock.nextTimerAt).toBeNull()
  })

  it('gives up waiting when the signal aborts', async () => {
    const { jobs } = world()
    const run = await jobs
      .define('mail', async () => {})
      .delay('1h')
      .dispatch()
    const stop = new AbortController()
    const waiting = expect(run.result({ signal: stop.signal })).rejects.toThrow('enough')
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort(new Error('enough'))
    await waiting
  })

  it('throws when the job did not end well, with the reason', async () => {
    const { jobs } = world()
    const dead = await jobs.define('dead', () => Promise.reject(new Error('no paper'))).dispatch()
    const skipped = await jobs
      .define('skipped', async () => {})
      .when(() => false)
      .dispatch()
    const cancelled = await jobs.define('cancelled', async () => {}).dispatch()
    await cancelled.cancel()
    await jobs.run()
    const failed = (message: string) => expect.objectContaining({ code: 'RUN_FAILED', message: expect.stringContaining(message) })
    await expect(dead.result()).rejects.toThrow(failed('is dead: no paper'))
    await expect(skipped.result()).rejects.toThrow(failed('is skipped: a when() filter returned false'))
    await expect(cancelled.result()).rejects.toThrow(failed('is cancelled'))
  })

  it('of a job that is not there says so', async () => {
    const { jobs, clock } = world()
    const nobody = jobs.handle('nobody')
    const missing = expect.objectContaining({ code: 'RUN_NOT_FOUND' })
    await expect(nobody.state()).rejects.toThrow(missing)
    await expect(nobody.progress()).rejects.toThrow(missing)
    await expect(nobody.result()).rejects.toThrow(missing)
    await expect(nobody.cancel()).rejects.toThrow(missing)
    await expect(nobody.reschedule(new Date(clock.now()))).rejects.toThrow(missing)
  })
})

describe('rescheduling', () => {
  it('X42, J24: moves a job that no worker has claimed, forth and back', async () => {
    const { jobs, clock, record } = world()
    const run = await jobs.define('mail', async () => {}).dispatch()
    const later = clock.now() + 60_000
    await run.reschedule(new Date(later))
    expect(await record(run)).toMatchObject({ state: 'scheduled', runAt: later })
    expect(await jobs.run()).toMatchObject({ succeeded: 0 })
    await run.reschedule('2020-01-01T00:00:00Z')
    expect(await record(run)).toMatchObject({ state: 'ready' })
    expect(await jobs.run()).toMatchObject({ succeeded: 1 })
  })

  it('X42: of one run leaves others alone, whichever was dispatched last', async () => {
    const { jobs, clock, record } = world()
    const job = jobs.define('mail', async () => {})
    const [first, second] = [await job.dispatch(), await job.dispatch()]
    await first.reschedule(new Date(clock.now() + 1_000))
    expect(await record(first)).toMatchObject({ state: 'scheduled' })
    expect(await record(second)).toMatchObject({ state: 'ready' })
  })

  it('X42: says that it is too late when a worker has the job, or it has ended', async () => {
    const { jobs, clock, names } = world()
    const { open, opened } = gate()
    const run = await jobs.define('mail', () => opened).dispatch()
    const pass = jobs.run()
    await until(() => names().includes('job:started'))
    const at = new Date(clock.now() + 1_000)
    const tooLate = (why: string) => expect.objectContaining({ code: 'RUN_ENDED', message: expect.stringContaining(why) })
    await expect(run.reschedule(at)).rejects.toThrow(tooLate('a worker has it already'))
    open()
    await pass
    await expect(run.reschedule(at)).rejects.toThrow(tooLate('it has ended'))
  })

  it('wakes a worker that sleeps until later', async () => {
    const { jobs, clock } = world()
    const run = await jobs
      .define('mail', async () => 'sent')
      .delay('1h')
      .dispatch()
    const working = jobs.work({ ...quiet, poll: '1d' })
    await clock.advance(1_000)
    await run.reschedule(new Date(clock.now() + 5_000))
    await clock.advance(5_000)
    expect(await run.state()).toBe('succeeded')
    await jobs.stop()
    await working
  })

  it('refuses an instant that is none', async () => {
    const { jobs } = world()
    const run = await jobs.define('mail', async () => {}).dispatch()
    await expect(run.reschedule('tomorrow')).rejects.toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })
})

/** A queue whose next looks are answered with an error. */
function stubborn() {
  const clock = new ManualClock()
  const sound = openMemory({ clock })
  const failing = { looks: 0, code: 'DATABASE_BUSY' as 'DATABASE_BUSY' | 'DATABASE_UNREACHABLE' | 'DATABASE_CORRUPT' }
  const answer = <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
    failing.looks-- > 0 ? Promise.reject(new TreadleError(failing.code, 'not now')) : ask()
  const { store } = sound
  const [get, counts] = [store.get.bind(store), store.counts.bind(store)]
  Object.assign(store, {
    get: (id: string) => answer(() => get(id)),
    counts: (options: CountOptions) => answer(() => counts(options)),
  })
  return { ...worldOn(sound, clock), failing }
}

describe('a database that is busy for a moment', () => {
  it.each(['DATABASE_BUSY', 'DATABASE_UNREACHABLE'] as const)(
    'does not end a wait for a result, and a clock that stands still does not either: %s',
    async (code) => {
      const { jobs, failing } = stubborn()
      const run = await jobs.define('mail', async () => 'sent').dispatch()
      const all = await jobs.chain([jobs.define('step', async () => 'done').step()])
      await jobs.run()
      failing.code = code
      failing.looks = 2
      expect(await run.result()).toBe('sent')
      failing.looks = 1
      expect(await run.state()).toBe('succeeded')
      failing.looks = 1
      expect(await run.progress()).toBeNull()
      failing.looks = 1
      expect(await all.wait()).toMatchObject({ done: 1 })
      failing.looks = 1
      expect(await all.result()).toBe('done')
    },
  )

  it('lets the timeout of a wait end it, with its own words', async () => {
    const { jobs, clock, failing } = stubborn()
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    failing.looks = Number.POSITIVE_INFINITY
    const waiting = expect(run.result({ timeout: '2s' })).rejects.toMatchObject({
      code: 'WAIT_TIMEOUT',
      cause: expect.objectContaining({ code: 'DATABASE_BUSY' }),
    })
    await clock.advance(5_000)
    await waiting
  })

  it('is told apart from one that is broken for good', async () => {
    const { jobs, failing } = stubborn()
    const run = await jobs.define('mail', async () => 'sent').dispatch()
    failing.code = 'DATABASE_CORRUPT'
    failing.looks = 1
    await expect(run.result()).rejects.toMatchObject({ code: 'DATABASE_CORRUPT' })
  })
})
