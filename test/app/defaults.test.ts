import { describe, expect, it } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import { until, world } from '../world.ts'

const failing = () => {
  throw new Error('it broke')
}

describe('Z6: defaults of the program', () => {
  it('count for jobs that say nothing else', async () => {
    const { jobs, record } = world({
      defaults: {
        retries: 3,
        backoff: { strategy: 'fixed', base: '7s', jitter: 'none' },
        timeout: '5m',
        queue: 'work',
        priority: 'low',
        idempotencyTtl: '1h',
        waitAtMost: '2h',
      },
    })
    jobs.define('plain', () => {})
    jobs
      .define('own', () => {})
      .retries(0)
      .queue('mine')
      .timeout(null)
      .backoff({ strategy: 'none' })
    const [plain, own] = jobs.definitions()
    expect(plain?.fields).toMatchObject({
      maxAttempts: 4,
      timeoutMs: 300_000,
      queue: 'work',
      priority: 1,
      retry: { strategy: 'fixed', baseMs: 7_000 },
      idempotencyTtlMs: 3_600_000,
      longestWaitMs: 7_200_000,
    })
    expect(own?.fields).toMatchObject({ maxAttempts: 1, timeoutMs: null, queue: 'mine', retry: { strategy: 'none' } })
    expect((await record(await jobs.dispatch('plain'))).queue).toBe('work')
  })

  it('are what a worker goes by', async () => {
    const { jobs, clock, record } = world({ defaults: { retries: 1, backoff: () => '7s' } })
    const run = await jobs.define('plain', failing).dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'scheduled', runAt: clock.now() + 7_000 })
    await clock.advance(7_000)
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', attempts: 2 })
  })

  it('there are no retries without them (D3, X2)', async () => {
    const { jobs, record } = world()
    const run = await jobs.define('plain', failing).dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'dead', attempts: 1 })
  })

  it('never contradict what a job says', () => {
    const { jobs } = world({ defaults: { retries: 3, timeout: '5m' } })
    jobs.define('once', () => {}).delivery('at-most-once')
    jobs.define('long', () => {}).maxRunningTime('1h')
    expect(jobs.definitions().map(({ maxRetries, deadlineMs }) => [maxRetries, deadlineMs])).toEqual([
      [0, 300_000],
      [3, 3_600_000],
    ])
  })

  it('say how long ended jobs are kept', async () => {
    const { jobs, backend } = world({ defaults: { keep: { succeeded: 0 } } })
    const run = await jobs.define('plain', () => {}).dispatch()
    await jobs.run()
    expect(await backend.store.get(run.id)).toBeNull()
  })

  it('are the default of null: queue(null), maxRetries(null), { retries: null }', async () => {
    const { jobs, record } = world({ defaults: { queue: 'work', retries: 2 } })
    const job = jobs
      .define('plain', () => {})
      .queue('x')
      .queue(null)
      .maxRetries(7)
      .maxRetries(null)
    expect(jobs.definitions()[0]).toMatchObject({ maxRetries: 2, fields: { queue: 'work' } })
    const run = await job.at(null).dispatch(null, { queue: null, retries: null, maxRetries: null })
    expect(await record(run)).toMatchObject({ queue: 'work', state: 'ready' })
  })

  it.each([
    [{ retries: -1 }, 'defaults: retries must be a whole number'],
    [{ timeout: 0 }, 'defaults: timeout must be more than 0 ms'],
    [{ queue: 'two words' }, 'defaults: a queue must be'],
    [{ retrys: 3 }, 'defaults: unknown option "retrys"'],
    [{ backoff: { factor: 0 } }, 'factor must be at least 1'],
    [7, 'defaults must be an object'],
  ])('%j is refused when the instance is made', (defaults, message) => {
    expect(() => treadle('memory:', { defaults: defaults as never })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
    )
  })
})

describe('the time zone of the program (Z13)', () => {
  it('is that of schedules that name none', () => {
    const { jobs } = world({ timezone: 'Europe/Paris' })
    jobs.define('local', () => {}).dailyAt('02:30')
    jobs
      .define('abroad', () => {})
      .dailyAt('02:30')
      .timezone('Asia/Tokyo')
    jobs.define('counted', () => {}).repeat('FINISHED, +1 HOUR')
    jobs.register(
      jobs
        .define('base', () => {})
        .toDefinition()
        .withJob('copy')
        .withSchedule('0 3 * * *'),
    )
    const zones = jobs.definitions().map(({ job, fields }) => [job, fields.schedule?.timezone])
    expect(Object.fromEntries(zones)).toEqual({
      local: 'Europe/Paris',
      abroad: 'Asia/Tokyo',
      counted: 'UTC',
      base: undefined,
      copy: 'Europe/Paris',
    })
    const local = jobs.definitions()[0]?.fields.schedule
    expect(local?.next(Date.UTC(2026, 6, 1))).toBe(Date.UTC(2026, 6, 1, 0, 30))
  })

  it('is refused where it is none', () => {
    expect(() => treadle('memory:', { timezone: 'Mars/Base' })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describe('what whoever dispatches does not say', () => {
  it('the definition of the worker decides: retries and timeout travel only where they were said', async () => {
    const web = world()
    const worker = web.other()
    let calls = 0
    worker.jobs
      .define('transcode', () => {
        calls++
        throw new Error('it broke')
      })
      .retries(2, { strategy: 'none' })
    const bare = await web.jobs.declare('transcode').dispatch()
    await worker.jobs.run()
    expect([calls, await bare.state()]).toEqual([3, 'dead'])
    calls = 0
    await web.jobs.dispatch('transcode', null, { retries: 0 })
    await worker.jobs.run()
    expect(calls).toBe(1)
  })

  it('so with the timeout; null of a dispatch is none at all', async () => {
    const web = world()
    const worker = web.other()
    const running = worker.jobs.define(
      'slow',
      (_: unknown, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve)),
    )
    running.timeout('10s')
    web.jobs.declare('slow')
    const [bare, endless] = [await web.jobs.dispatch('slow'), await web.jobs.dispatch('slow', null, { timeout: null })]
    const working = worker.jobs.run()
    await until(async () => (await bare.state()) === 'running' && (await endless.state()) === 'running')
    await web.clock.advance(10_000)
    await until(async () => (await bare.state()) === 'dead')
    expect(await endless.state()).toBe('running')
    await endless.cancel()
    await worker.jobs.stop({ abort: true })
    await working
  })

  it('two words for one are refused together', async () => {
    const { jobs } = world()
    jobs.define('plain', () => {})
    await expect(jobs.dispatch('plain', null, { retries: 1, maxRetries: 2 })).rejects.toThrow('mean the same')
  })
})
