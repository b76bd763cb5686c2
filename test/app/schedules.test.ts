import { describe, expect, test } from 'vitest'
import { drain } from '../../src/testing/drain.ts'
import { gate, until, world } from '../world.ts'

const minute = 60_000
const hour = 60 * minute

describe('schedules at run time', () => {
  test('a paused schedule does not run, also after a restart, until it is resumed', async () => {
    const { jobs, clock, other } = world()
    const runs: number[] = []
    const define = (program: typeof jobs) => program.define('tick', () => void runs.push(clock.now())).everyMinute()
    define(jobs)
    await drain(jobs, { clock, for: '2m' })
    const before = runs.length
    await jobs.schedules.pause('tick')
    const restarted = other().jobs
    define(restarted)
    await drain(restarted, { clock, for: '10m' })
    expect(runs).toHaveLength(before)
    expect(await restarted.schedules.list()).toMatchObject([{ name: 'tick', paused: true, nextAt: null }])
    await restarted.schedules.resume('tick')
    await drain(restarted, { clock, for: '3m' })
    expect(runs.length).toBeGreaterThanOrEqual(before + 3)
  })

  test('are counted in the log when a scheduler first sees them', async () => {
    const { jobs, log, other } = world()
    jobs.define('tick', () => null).everyMinute()
    await jobs.run()
    expect(log).toContain('debug the scheduler follows 1 schedule')
    const more = other()
    for (const name of ['a', 'b']) more.jobs.define(name, () => null).hourly()
    await more.jobs.run()
    expect(more.log).toContain('debug the scheduler follows 2 schedules')
  })

  test('a schedule that no scheduler has seen yet can be paused', async () => {
    const { jobs, clock } = world()
    let runs = 0
    jobs.define('tick', () => void runs++).everyMinute()
    await jobs.schedules.pause('tick')
    await drain(jobs, { clock, for: '5m' })
    expect(runs).toBe(0)
  })

  test('a schedule is triggered with its arguments, also while it is paused, and goes on as it was', async () => {
    const { jobs, clock } = world()
    const payloads: unknown[] = []
    jobs
      .define('report', (payload: { readonly kind: string }) => void payloads.push(payload))
      .daily()
      .args({ kind: 'short' })
    await jobs.run()
    payloads.length = 0
    const [before] = await jobs.schedules.list()
    await jobs.schedules.pause('report')
    const run = await jobs.schedules.trigger('report')
    await jobs.run()
    expect(await run.state()).toBe('succeeded')
    expect(payloads).toEqual([{ kind: 'short' }])
    await jobs.schedules.resume('report')
    await clock.advance(1_000)
    await jobs.run()
    expect((await jobs.schedules.list())[0]?.nextAt).toBe(before?.nextAt)
  })

  test('a schedule that the code no longer has is forgotten with what waits for it', async () => {
    const { jobs, clock, other, backend } = world()
    jobs.define('old', () => null).hourly()
    await jobs.run()
    const later = other().jobs
    later.define('new', () => null).hourly()
    await later.schedules.forget('old')
    expect(await later.schedules.list()).toEqual([])
    await clock.advance(2 * hour)
    expect(await backend.store.list({ limit: 10, job: 'old', state: 'scheduled' })).toEqual([])
    await expect(jobs.schedules.forget('old')).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
  })

  test('a schedule that is stored in the queue is not forgotten: the error names delete()', async () => {
    const { jobs } = world()
    jobs.define('report', () => null)
    await jobs.schedules.upsert('acme/report', { job: 'report', every: '1h' })
    await expect(jobs.schedules.forget('acme/report')).rejects.toMatchObject({
      code: 'SCHEDULE_INVALID',
      message: expect.stringContaining('remove it with schedules.delete()'),
    })
    expect(await jobs.schedules.delete('acme/report')).toBe(true)
  })

  test.each(['pause', 'resume', 'trigger', 'forget'] as const)('%s of an unknown schedule names the known ones', async (verb) => {
    const { jobs } = world()
    jobs.define('nightly', () => null).daily()
    await expect(jobs.schedules[verb]('nihgtly')).rejects.toMatchObject({
      code: 'SCHEDULE_UNKNOWN',
      message: expect.stringContaining('nightly'),
    })
  })

  test('a job without a schedule cannot be triggered', async () => {
    const { jobs } = world()
    jobs.define('mail', () => null)
    await expect(jobs.schedules.trigger('mail')).rejects.toMatchObject({ code: 'SCHEDULE_UNKNOWN', message: /no schedule/ })
  })
})

describe('A11: a pass at another time', () => {
  test('runs what falls on that instant, once, and the handler knows which it is', async () => {
    const { jobs, clock } = world()
    const seen: (string | undefined)[] = []
    jobs.define('nightly', (_, ctx) => void seen.push(ctx.occurrence?.toISOString())).dailyAt('02:30')
    jobs.define('hourly', () => void seen.push('hourly')).hourly()
    const at = new Date(clock.now() - (clock.now() % (24 * hour)) - 24 * hour + 2.5 * hour)
    expect(await jobs.run({ at })).toMatchObject({ enqueued: 1, succeeded: 1 })
    expect(await jobs.run({ at })).toMatchObject({ enqueued: 0, succeeded: 0 })
    expect(seen).toEqual([at.toISOString()])
  })

  test('an instant that is not one is refused', async () => {
    const { jobs } = world()
    jobs.define('nightly', () => null).daily()
    await expect(jobs.run({ at: 'yesterday' })).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: /at must be/ })
    await expect(jobs.run({ at: new Date(0), scheduler: false })).rejects.toMatchObject({ message: /without the scheduler/ })
  })
})

describe('a dry run', () => {
  test('says what a pass would store, and stores nothing', async () => {
    const { jobs, clock, backend } = world({ environment: 'production' })
    await clock.advance(20 * minute - (clock.now() % hour) + hour)
    jobs.define('hourly', () => null).hourly()
    jobs
      .define('off', () => null)
      .daily()
      .disable()
    jobs
      .define('elsewhere', () => null)
      .daily()
      .environments('staging')
    jobs.define('held', () => null).daily()
    await jobs.schedules.pause('held')
    const next = clock.now() + 40 * minute
    expect(await jobs.schedules.dryRun()).toEqual([
      {
        schedule: 'hourly',
        job: 'hourly',
        timezone: 'UTC',
        leftOut: null,
        occurrences: [{ at: next, why: 'next', stored: false }],
      },
      { schedule: 'held', job: 'held', timezone: 'UTC', leftOut: 'paused', occurrences: [] },
      { schedule: 'off', job: 'off', timezone: 'UTC', leftOut: 'disabled', occurrences: [] },
      { schedule: 'elsewhere', job: 'elsewhere', timezone: 'UTC', leftOut: 'environment', occurrences: [] },
    ])
    expect(await backend.store.list({ limit: 10 })).toEqual([])
    expect((await jobs.schedules.list()).map(({ name }) => name)).toEqual(['held'])
  })

  test('knows what is stored already, and what was missed', async () => {
    const { jobs, clock } = world()
    await clock.advance(20 * minute - (clock.now() % hour) + hour)
    jobs.define('hourly', () => null).hourly()
    await jobs.run()
    const first = clock.now() + 40 * minute
    expect((await jobs.schedules.dryRun())[0]?.occurrences).toEqual([{ at: first, why: 'next', stored: true }])
    await clock.advance(5 * hour)
    expect((await jobs.schedules.dryRun())[0]?.occurrences).toEqual([
      { at: first + 4 * hour, why: 'missed', stored: false },
      { at: first + 5 * hour, why: 'next', stored: false },
    ])
    const at = new Date(first + 2 * hour)
    expect((await jobs.schedules.dryRun({ at }))[0]?.occurrences).toEqual([{ at: at.getTime(), why: 'current', stored: false }])
  })
})

describe('a daemon', () => {
  test('works, follows the schedules on its beat, and tells at its end how well it kept time', async () => {
    const { jobs, clock, happened } = world()
    const runs: number[] = []
    jobs.define('often', () => void runs.push(clock.now())).everyFifteenSeconds()
    const working = jobs.daemon({ tick: '1m', signals: false })
    await clock.advance(10 * minute)
    const stopped = jobs.stop()
    await clock.advance(minute)
    await stopped
    const report = await working
    expect(runs.length).toBe(report.succeeded)
    expect(runs.length).toBeGreaterThanOrEqual(40)
    expect(report).toMatchObject({ overruns: 0, missedTicks: 0, clockJumps: 0, latestMs: 0 })
    expect(report.ticks).toBe(happened.filter(({ name }) => name === 'schedule:tick').length)
    expect(report.ticks).toBeGreaterThanOrEqual(10)
  })

  test('refuses a beat that makes no sense, with all problems at once', async () => {
    const { jobs } = world()
    jobs.define('often', () => null).everyMinute()
    await expect(jobs.daemon({ tick: '10ms', maxOverruns: -1 })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/tick must be from 1s to 1h.*maxOverruns/),
    })
    await expect(jobs.work({ tick: '1m' } as object)).rejects.toMatchObject({ message: /unknown option "tick"/ })
  })
})

describe('a repeat in a worker', () => {
  test('R14: goes on when its run has ended, without waiting for the next look', async () => {
    const { jobs, clock } = world()
    const runs: number[] = []
    jobs.define('again', () => void runs.push(clock.now())).repeat('FINISHED, +10 SECONDS')
    const working = jobs.work({ signals: false })
    await clock.advance(minute)
    await jobs.stop()
    await working
    const gaps = runs.slice(1).map((at, index) => at - (runs[index] as number))
    expect(runs.length).toBeGreaterThanOrEqual(5)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(11_000)
  })

  test('never runs beside itself', async () => {
    const { jobs, clock } = world()
    let running = 0
    let most = 0
    const first = gate()
    jobs
      .define('again', async () => {
        most = Math.max(most, ++running)
        await first.opened
        running--
      })
      .repeat('SCHEDULED, +1 SECOND')
    const working = jobs.work({ signals: false })
    await clock.advance(30_000)
    first.open()
    await until(() => running === 0)
    await clock.advance(5_000)
    await jobs.stop()
    await working
    expect(most).toBe(1)
  })
})

test('what was missed is sorted out before a worker runs any of it', async () => {
  const { jobs, clock, other } = world()
  const define = (program: typeof jobs, into: (string | undefined)[]) =>
    program.define('hourly', (_, ctx) => void into.push(ctx.occurrence?.toISOString())).hourly()
  define(jobs, [])
  await jobs.run()
  await clock.advance(5 * hour)
  const seen: (string | undefined)[] = []
  const restarted = other().jobs
  define(restarted, seen)
  const working = restarted.work({ signals: false })
  await clock.advance(1_000)
  await restarted.stop()
  await working
  const latest = new Date(clock.now() - (clock.now() % hour)).toISOString()
  expect(seen).toEqual([latest])
})

test('two programs with a single scheduler: one follows the schedules, the other takes over when it stops', async () => {
  const { jobs, clock, other, happened } = world()
  const second = other()
  for (const program of [jobs, second.jobs]) program.define('tick', () => null).everyMinute()
  const both = [jobs, second.jobs].map((program) => program.work({ signals: false, scheduler: 'single' }))
  await clock.advance(5 * minute)
  const byFirst = happened.filter(({ name }) => name === 'schedule:enqueued').length
  const bySecond = second.happened.filter(({ name }) => name === 'schedule:enqueued').length
  expect([byFirst > 0, bySecond]).toEqual([true, 0])
  await jobs.stop()
  await clock.advance(5 * minute)
  expect(second.happened.filter(({ name }) => name === 'schedule:enqueued').length).toBeGreaterThan(3)
  await second.jobs.stop()
  await Promise.all(both)
})
