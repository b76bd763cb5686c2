import { describe, expect, it } from 'vitest'
import { PermanentError } from '../../src/core/errors.ts'
import { workerConfig } from '../../src/worker/config.ts'
import { until, world } from '../world.ts'

const nothing = {
  enqueued: 0,
  failedSchedules: 0,
  succeeded: 0,
  retried: 0,
  snoozed: 0,
  waiting: 0,
  dead: 0,
  cancelled: 0,
  skipped: 0,
  lost: 0,
  released: 0,
}

describe('one pass', () => {
  it('J27, A4: runs everything that is due and says what came of it', async () => {
    const { jobs } = world()
    const sound = jobs.define('sound', async () => {})
    const broken = jobs.define('broken', () => Promise.reject(new Error('no')))
    const permanent = jobs.define('permanent', () => Promise.reject(new PermanentError('no'))).retries(3)
    const skipped = jobs.define('skipped', async () => {}).when(() => false)
    const snoozed = jobs.define('snoozed', async (_, { snooze }) => snooze('1h'))
    await sound.dispatchMany([1, 2, 3])
    await broken.dispatch()
    await broken.dispatch({}, { maxRetries: 1 })
    await permanent.dispatch()
    await skipped.dispatch()
    await snoozed.dispatch()
    await sound.delay('1h').dispatch()
    expect(await jobs.run()).toEqual({ ...nothing, succeeded: 3, dead: 2, retried: 1, skipped: 1, snoozed: 1 })
    expect(await jobs.run()).toEqual(nothing)
  })

  it('runs what its jobs dispatch, too', async () => {
    const { jobs } = world()
    const count = jobs.define('count', async (left: number): Promise<void> => {
      if (left > 0) await count.dispatch(left - 1)
    })
    await count.dispatch(5)
    expect(await jobs.run()).toMatchObject({ succeeded: 6 })
  })

  it('runs retries that are due at once', async () => {
    const { jobs } = world()
    const job = jobs.define('broken', () => Promise.reject(new Error('no'))).retries(2, { strategy: 'none' })
    await job.dispatch()
    expect(await jobs.run()).toMatchObject({ retried: 2, dead: 1 })
  })

  it('J27: starts no more jobs than its limit, and does not wait when it has', async () => {
    const { jobs, clock, backend } = world()
    await jobs.define('mail', async () => {}).dispatchMany([1, 2, 3, 4, 5])
    const before = clock.now()
    expect(await jobs.run({ limit: 2 })).toMatchObject({ succeeded: 2 })
    expect(await jobs.run({ limit: 2, concurrency: 1 })).toMatchObject({ succeeded: 2 })
    expect(await backend.store.list({ state: 'ready', limit: 10 })).toHaveLength(1)
    expect(await jobs.run({ limit: 2 })).toMatchObject({ succeeded: 1 })
    expect(clock.now()).toBe(before)
    expect(clock.nextTimerAt).toBeNull()
  })

  it('counts the occurrences of schedules that it stored, each once, and runs those that are due', async () => {
    const { jobs, happened } = world()
    const ran: unknown[] = []
    jobs
      .define('tick', async (payload) => void ran.push(payload))
      .everyMinute()
      .args({ from: 'the schedule' })
    expect(await jobs.run()).toMatchObject({ enqueued: 2, failedSchedules: 0, succeeded: 1 })
    expect(ran).toEqual([{ from: 'the schedule' }])
    expect(happened.filter(({ name }) => name === 'schedule:enqueued')).toHaveLength(2)
    expect(await jobs.run()).toEqual(nothing)
  })

  it('can leave the schedules alone', async () => {
    const { jobs } = world()
    jobs.define('tick', async () => {}).everyMinute()
    expect(await jobs.run({ scheduler: false })).toEqual(nothing)
  })

  it('starts nothing when its signal is aborted already', async () => {
    const { jobs, record } = world()
    const run = await jobs.define('mail', async () => {}).dispatch()
    expect(await jobs.run({ signal: AbortSignal.abort() })).toEqual(nothing)
    expect(await record(run)).toMatchObject({ state: 'ready' })
  })

  it('may run beside a worker of the same instance, and beside another pass: each job runs once', async () => {
    const { jobs, names } = world()
    const job = jobs.define('mail', async () => {})
    await job.dispatchMany(Array.from({ length: 30 }, () => null))
    const working = jobs.work({ signals: false })
    const passes = await Promise.all([jobs.run(), jobs.run()])
    await until(() => names().filter((name) => name === 'job:succeeded').length === 30)
    await jobs.stop()
    const reports = [await working, ...passes]
    expect(reports.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(30)
  })

  it('is refused where no job has a handler, or a job is asked for that is not defined', async () => {
    const { jobs } = world()
    await expect(jobs.run()).rejects.toThrow('There is nothing to run: no job is defined. Call define() first.')
    jobs.declare('elsewhere')
    await expect(jobs.run()).rejects.toThrow('nothing to run')
    jobs.define('mail', async () => {})
    await expect(jobs.run({ jobs: ['mial'] })).rejects.toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
    await expect(jobs.work({ jobs: ['mial'] })).rejects.toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
  })
})

describe('the options of a worker', () => {
  it('have defaults', () => {
    expect(workerConfig({}, 'work')).toEqual({
      name: null,
      concurrency: 10,
      queues: null,
      jobs: null,
      leaseMs: 30_000,
      pollMs: 1_000,
      graceMs: 30_000,
      maxRescues: 3,
      stallMs: 1_000,
      maxStallMs: 3_600_000,
      breaker: { threshold: 5, cooldownMs: 15_000 },
      maxLoad: null,
      ageingMs: null,
    })
  })

  it('may have no breaker, another one, and limits of the load', () => {
    expect(workerConfig({ breaker: false, maxLoad: 0.8 }, 'work')).toMatchObject({
      breaker: null,
      maxLoad: { cpu: 0.8, lagMs: null, memoryBytes: null },
    })
    const maxLoad = { lag: '200ms', memory: 2 ** 30 }
    expect(workerConfig({ breaker: { threshold: 2, cooldown: '1m' }, maxLoad }, 'daemon')).toMatchObject({
      breaker: { threshold: 2, cooldownMs: 60_000 },
      maxLoad: { cpu: null, lagMs: 200, memoryBytes: 2 ** 30 },
    })
  })

  it.each([
    [{ breaker: true }, 'breaker must be false or { threshold, cooldown }, got true'],
    [{ breaker: { threshold: 0, cooldown: 1, treshold: 3 } }, 'breaker: unknown option "treshold", did you mean "threshold"?'],
    [{ breaker: { threshold: 0 } }, 'breaker.threshold must be a whole number from 1 to 1000, got 0'],
    [{ breaker: { cooldown: 1 } }, 'breaker.cooldown must be at least 100ms, got 1 ms'],
    [{ maxLoad: 80 }, "maxLoad is a share of the machine's cores and must be from 0.05 to 1, got 80"],
    [{ maxLoad: 'full' }, "maxLoad must be a number or { cpu, lag, memory }, got 'full'"],
    [{ maxLoad: { cpu: 'much', load: 3 } }, "maxLoad.cpu is a share of the machine's cores"],
    [{ maxLoad: { lag: 1 } }, 'maxLoad.lag must be at least 10ms, got 1 ms'],
    [{ maxLoad: { memory: 512 } }, 'maxLoad.memory is a number of bytes and must be at least 33554432, got 512'],
  ])('refuse %j', (wrong, problem) => {
    expect(() => workerConfig(wrong as object, 'work')).toThrow(problem)
  })

  it('are refused with everything that is wrong with them', () => {
    const wrong = {
      concurrency: 0,
      lease: '999ms',
      poll: 9,
      maxRescues: -1,
      stall: 99,
      maxStall: 1,
      queues: [],
      jobs: [''],
      concurency: 3,
    }
    expect(() => workerConfig(wrong, 'work')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: [
          'The worker\'s options are invalid: unknown option "concurency", did you mean "concurrency"?',
          'concurrency must be a whole number from 1 to 10000, got 0',
          'lease must be from 1s to 1d, got 999 ms',
          'poll must be at least 10ms, got 9 ms',
          'maxRescues must be a whole number from 0 to 1000, got -1',
          'stall must be at least 100ms, got 99 ms',
          'maxStall must be at least as long as the lease, got 1 ms',
          'queues must be a list of names that is not empty',
          'jobs must be a list of names that is not empty',
        ].join('; '),
      }),
    )
  })

  it.each([
    ['work', { limit: 3 }],
    ['run', { grace: '1s' }],
    ['run', { limit: 0 }],
    ['run', { limit: 1.5 }],
    ['work', { lease: '2d' }],
    ['work', { concurrency: 1.5 }],
    ['work', { queues: 'mail' }],
  ] as const)('of %s are refused: %j', (kind, options) => {
    expect(() => workerConfig(options as never, kind)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  it('J32: take a lease of a second, and no shorter one', () => {
    expect(workerConfig({ lease: '1s' }, 'work').leaseMs).toBe(1_000)
    expect(() => workerConfig({ lease: 'soon' }, 'work')).toThrow('lease must be')
  })
})
