import { describe, expect, test } from 'vitest'
import { drain } from '../../src/testing/drain.ts'
import { gate, until, world } from '../world.ts'

const minute = 60_000
const hour = 60 * minute

/** A program that notes the payloads and the instants of its runs. */
function reporting(options: Parameters<typeof world>[0] = {}) {
  const here = world(options)
  const runs: { readonly payload: unknown; readonly at: number }[] = []
  here.jobs.define('report', (payload: unknown, ctx) => {
    runs.push({ payload, at: ctx.occurrence?.getTime() ?? Number.NaN })
  })
  return { ...here, runs, payloads: () => runs.map(({ payload }) => payload) }
}

describe('a schedule that is made at run time', () => {
  test('runs its job with its payload at its times, and is changed, listed and deleted', async () => {
    const { jobs, clock, runs, payloads } = reporting()
    const made = await jobs.schedules.upsert('acme/report', { job: 'report', payload: { tenant: 'acme' }, cron: '*/10 * * * *' })
    expect(made).toMatchObject({
      key: 'acme/report',
      job: 'report',
      payload: { tenant: 'acme' },
      kind: 'cron',
      said: '*/10 * * * *',
      expression: '0 */10 * * * *',
      timezone: 'UTC',
      misfire: { kind: 'latest', withinMs: null },
      overlap: 'skip',
      paused: false,
      problem: null,
    })
    await clock.advance(minute)
    await drain(jobs, { clock, for: '30m' })
    expect(payloads()).toEqual([{ tenant: 'acme' }, { tenant: 'acme' }, { tenant: 'acme' }])
    expect(runs.every(({ at }) => at % (10 * minute) === 0)).toBe(true)
    await jobs.schedules.upsert('acme/report', { job: 'report', payload: { tenant: 'acme', long: true }, cron: '0 * * * *' })
    runs.length = 0
    await drain(jobs, { clock, for: '2h' })
    expect(payloads()).toEqual([
      { tenant: 'acme', long: true },
      { tenant: 'acme', long: true },
    ])
    expect(await jobs.schedules.list()).toMatchObject([{ name: 'stored:acme/report', stored: { key: 'acme/report' } }])
    expect(await jobs.schedules.delete('acme/report')).toBe(true)
    expect(await jobs.schedules.delete('acme/report')).toBe(false)
    expect(await jobs.schedules.get('acme/report')).toBeNull()
    runs.length = 0
    await drain(jobs, { clock, for: '3h' })
    expect(runs).toEqual([])
  })

  test('is followed within a second by every scheduler that runs, and each occurrence runs once', async () => {
    const { clock, other } = world()
    const runs: number[] = []
    const programs = [other(), other(), other()]
    for (const { jobs } of programs) jobs.define('tick', (_, ctx) => void runs.push(ctx.occurrence?.getTime() ?? 0))
    const working = programs.map(({ jobs }) => jobs.work({ signals: false }))
    await clock.advance(2_500)
    await programs[0]?.jobs.schedules.upsert('often', { job: 'tick', cron: '* * * * * *' })
    const madeAt = clock.now()
    await clock.advance(1_000)
    await until(() => runs.length > 0)
    for (let second = 0; second < 5; second++) await clock.advance(1_000)
    await until(() => runs.length >= 5)
    expect(new Set(runs).size).toBe(runs.length)
    expect(runs[0]).toBeLessThanOrEqual(madeAt + 1_000)
    expect(programs.flatMap(({ log }) => log).filter((line) => line.startsWith('error'))).toEqual([])
    const stopping = programs.map(({ jobs }) => jobs.stop())
    await clock.advance(1_000)
    await Promise.all([...stopping, ...working])
  })

  test('is paused and resumed by its key, and what fell into the pause is not made up for', async () => {
    const { jobs, clock, runs } = reporting()
    await jobs.schedules.upsert('a', { job: 'report', cron: '* * * * *' })
    await drain(jobs, { clock, for: '2m' })
    await jobs.schedules.pause('a')
    expect(await jobs.schedules.get('a')).toMatchObject({ paused: true, nextAt: null })
    const before = runs.length
    await drain(jobs, { clock, for: '10m' })
    expect(runs).toHaveLength(before)
    await jobs.schedules.resume('a')
    await drain(jobs, { clock, for: '3m' })
    expect(runs.length - before).toBe(3)
    await expect(jobs.schedules.pause('b')).rejects.toMatchObject({ code: 'SCHEDULE_UNKNOWN' })
  })

  test('runs now with its payload, also while it is paused', async () => {
    const { jobs, payloads } = reporting()
    await jobs.schedules.upsert('a', { job: 'report', payload: [1], cron: '0 0 1 1 *' })
    await jobs.schedules.pause('a')
    const run = await jobs.schedules.runNow('a')
    await jobs.run()
    expect(await run.state()).toBe('succeeded')
    expect(payloads()).toEqual([[1]])
    await expect(jobs.schedules.runNow('nobody')).rejects.toMatchObject({ code: 'SCHEDULE_UNKNOWN' })
  })

  test('has no run after its last instant, whatever it counts by', async () => {
    const { jobs, clock, runs } = reporting()
    const until = new Date(clock.now() + 3 * minute + 1)
    await jobs.schedules.upsert('cron', { job: 'report', payload: 'cron', cron: '* * * * *', until })
    await jobs.schedules.upsert('every', { job: 'report', payload: 'every', every: '1m', until })
    await drain(jobs, { clock, for: '10m' })
    expect(runs.every(({ at }) => at <= until.getTime())).toBe(true)
    expect(runs.filter(({ payload }) => payload === 'every')).toHaveLength(4)
    expect(runs.filter(({ payload }) => payload === 'cron').length).toBeGreaterThanOrEqual(3)
    expect(await jobs.schedules.get('cron')).toMatchObject({ nextAt: null, until: until.getTime() })
    expect(await jobs.schedules.get('every')).toMatchObject({ nextAt: null })
  })

  test('counts an interval from when the last run was due, and makes up for a missed one once', async () => {
    const { jobs, clock, runs } = reporting()
    await jobs.schedules.upsert('a', { job: 'report', every: '90s' })
    const from = clock.now()
    await drain(jobs, { clock, for: '5m' })
    expect(runs.map(({ at }) => (at - from) / 1_000)).toEqual([0, 90, 180, 270])
    await clock.advance(hour)
    runs.length = 0
    await jobs.run()
    await jobs.run()
    expect(runs).toHaveLength(1)
  })

  test('keeps its own rules for late and overlapping runs, whatever the schedule of the code says', async () => {
    const { jobs, clock, other } = world()
    const begun: string[] = []
    const ending = gate()
    const define = (program: typeof jobs) =>
      program
        .define('slow', async (payload: string) => {
          begun.push(payload)
          await ending.opened
        })
        .args('code')
        .hourly()
        .overlap('skip')
    define(jobs)
    await jobs.schedules.upsert('beside', { job: 'slow', payload: 'beside', cron: '* * * * *', overlap: 'allow' })
    const working = jobs.work({ signals: false })
    await until(() => begun.length > 0)
    for (let turn = 0; turn < 3; turn++) await clock.advance(minute)
    await until(() => begun.filter((payload) => payload === 'beside').length >= 3)
    const restarted = other()
    define(restarted.jobs)
    const listed = await restarted.jobs.schedules.list()
    expect(listed.map(({ name, stored }) => [name, stored?.overlap])).toEqual([
      ['slow', undefined],
      ['stored:beside', 'allow'],
    ])
    ending.open()
    const stopping = jobs.stop()
    await clock.advance(1_000)
    await Promise.all([stopping, working])
  })

  test('waits for its earlier run where that is its rule, and skips what overlaps by default', async () => {
    const { jobs, clock, names } = world()
    const ending = gate()
    let runs = 0
    jobs.define('slow', async () => {
      runs++
      await ending.opened
    })
    await jobs.schedules.upsert('skips', { job: 'slow', cron: '* * * * *' })
    const working = jobs.work({ signals: false })
    await clock.advance(minute)
    await until(() => runs === 1)
    await clock.advance(minute)
    await until(() => names().includes('job:skipped'))
    expect(runs).toBe(1)
    ending.open()
    const stopping = jobs.stop()
    await clock.advance(1_000)
    await Promise.all([stopping, working])
  })

  test('is never mixed up with the schedules of the code', async () => {
    const here = reporting()
    const { jobs, clock, runs, payloads } = here
    jobs.define('digest', () => null).hourly()
    await expect(jobs.schedules.upsert('digest', { job: 'report', cron: '* * * * *' })).rejects.toMatchObject({
      code: 'SCHEDULE_INVALID',
      message: expect.stringMatching(/"digest" is the name of a schedule of the code/),
    })
    await jobs.schedules.upsert('report', { job: 'report', payload: 'stored', cron: '0 * * * *' })
    // The code has come to have a schedule of that name, after the stored one was made.
    const { jobs: code } = here.other()
    code
      .define('report', (payload: unknown, ctx) => void runs.push({ payload, at: ctx.occurrence?.getTime() ?? 0 }))
      .args('code')
      .hourly()
    await drain(code, { clock, for: '2h' })
    expect([...new Set(payloads())].sort()).toEqual(['code', 'stored'])
    const instants = runs.filter(({ payload }) => payload === 'stored').map(({ at }) => at)
    expect(new Set(instants).size).toBe(instants.length)
    await code.schedules.pause('report')
    expect((await code.schedules.list()).map(({ name, paused }) => [name, paused])).toEqual([
      ['report', true],
      ['stored:report', false],
    ])
    await code.schedules.pause('stored:report')
    expect(await code.schedules.get('report')).toMatchObject({ paused: true })
  })

  test('of a job that is not known is told, is left alone, and is followed where the job is known', async () => {
    const { jobs, clock, log, other } = world()
    jobs.define('mine', () => null)
    const made = await jobs.schedules.upsert('a', { job: 'theirs', payload: 1, cron: '* * * * *' })
    expect(made.problem).toMatch(/"theirs" is not known in this program/)
    expect(log).toContainEqual(expect.stringMatching(/^warn the schedule "a" is for the job "theirs"/))
    await drain(jobs, { clock, for: '5m' })
    expect(log).toContainEqual(
      expect.stringMatching(/^warn the stored schedule "a" is for the job "theirs".*left to other programs/),
    )
    expect(log.filter((line) => line.startsWith('error'))).toEqual([])
    const runs: unknown[] = []
    const theirs = other()
    theirs.jobs.define('theirs', (payload) => void runs.push(payload))
    await drain(theirs.jobs, { clock, for: '2m' })
    expect(runs.length).toBeGreaterThanOrEqual(2)
    expect(await theirs.jobs.schedules.get('a')).toMatchObject({ problem: null })
  })

  test('is listed by what its key begins with, beside those of the code', async () => {
    const { jobs } = reporting()
    jobs.define('hourly', () => null).hourly()
    await jobs.run()
    for (const key of ['acme/a', 'acme/b', 'bolt/a']) await jobs.schedules.upsert(key, { job: 'report', cron: '0 0 * * *' })
    const keys = async (...options: Parameters<typeof jobs.schedules.list>) =>
      (await jobs.schedules.list(...options)).map(({ name, stored }) => stored?.key ?? name)
    expect(await keys()).toEqual(['hourly', 'acme/a', 'acme/b', 'bolt/a'])
    expect(await keys({ prefix: 'acme/' })).toEqual(['acme/a', 'acme/b'])
    expect(await keys({ stored: true })).toEqual(['acme/a', 'acme/b', 'bolt/a'])
    expect(await keys({ stored: false })).toEqual(['hourly'])
    expect(await keys({ stored: true, prefix: 'bolt' })).toEqual(['bolt/a'])
  })

  test.each([
    [{ job: 'report' }, /give one of cron, every and repeat, got none/],
    [{ job: 'report', cron: '* * * * *', every: '1m' }, /got cron and every/],
    [{ job: 'report', cron: '61 * * * *' }, /Schedule "a": .*61/],
    [{ job: 'report', cron: '* * * * *', timezone: 'Mars/Base' }, /Mars\/Base/],
    [{ job: 'report', every: '1m', timezone: 'Europe/Paris' }, /give no timezone/],
    [{ job: 'report', every: '1500ms' }, /whole number of seconds/],
    [{ job: 'report', repeat: 'FINISHED, START OF DAY' }, /would not lead into the future/],
    [{ job: 'report', cron: '* * * * *', misfire: 'all', overlap: 'skip' }, /contradict each other/],
    [{ job: 'report', cron: '* * * * *', misfire: 'never' }, /'skip', 'latest' or 'all'/],
    [{ job: 'report', cron: '* * * * *', overlap: 'maybe' }, /'allow', 'skip' or 'queue'/],
    [{ job: '', cron: '* * * * *' }, /job must be a string/],
  ])('is refused where it is not sound: %j', async (options, why) => {
    const { jobs } = reporting()
    const upsert = jobs.schedules.upsert('a', options as never)
    await expect(upsert).rejects.toMatchObject({
      name: 'TreadleError',
      code: 'SCHEDULE_INVALID',
      message: expect.stringMatching(why),
    })
    expect(await jobs.schedules.list()).toEqual([])
  })

  test('is refused with a key that is none, an option that is none, and a payload that is not JSON', async () => {
    const { jobs } = reporting()
    const { schedules } = jobs
    await expect(schedules.upsert(' a', { job: 'report', every: '1m' })).rejects.toMatchObject({ code: 'SCHEDULE_INVALID' })
    await expect(schedules.upsert('a', { job: 'report', evry: '1m' } as never)).rejects.toThrow(/evry/)
    const endless = schedules.upsert('a', { job: 'report', every: '1m', payload: 1n })
    await expect(endless).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
  })

  test('has a payload that the schema of its job accepts', async () => {
    const { jobs, clock } = world()
    const payloads: unknown[] = []
    const input = schemaOf((value) => (typeof value === 'number' ? undefined : 'a number was expected'))
    const count = jobs.define('count', { input }, (payload) => void payloads.push(payload))
    const refused = jobs.schedules.upsert('a', { job: 'count', payload: 'three', every: '1m' })
    await expect(refused).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringMatching(/a number was expected/),
    })
    // @ts-expect-error A payload that does not fit does not compile where the definition is given.
    await expect(jobs.schedules.upsert('a', { job: count, payload: 'three', every: '1m' })).rejects.toThrow(/a number/)
    await jobs.schedules.upsert('a', { job: count, payload: 3, every: '1m' })
    await drain(jobs, { clock, for: '1m' })
    expect(payloads).toEqual([3, 3])
  })

  test('D13: begins with what is due after it was made, and not with the minute that had begun', async () => {
    const { jobs, clock, runs } = reporting()
    await clock.advance(20_000)
    await jobs.schedules.upsert('a', { job: 'report', cron: '* * * * *' })
    await jobs.run()
    expect(runs).toEqual([])
    await clock.advance(40_000)
    await jobs.run()
    expect(runs).toHaveLength(1)
  })

  test('is looked at by a dry run, and run at an instant by hand', async () => {
    const { jobs, clock, runs } = reporting()
    await jobs.schedules.upsert('a', { job: 'report', cron: '30 * * * *' })
    const at = new Date(Math.floor(clock.now() / hour) * hour - 30 * minute)
    expect(await jobs.schedules.dryRun({ at })).toMatchObject([{ schedule: 'stored:a', occurrences: [{ at: at.getTime() }] }])
    await jobs.run({ at })
    expect(runs.map((run) => run.at)).toEqual([at.getTime()])
  })
})

const numbers: { readonly input: number; readonly output: number } | undefined = undefined

function schemaOf(problemOf: (value: unknown) => string | undefined) {
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) => {
        const message = problemOf(value)
        return message === undefined ? { value: value as number } : { issues: [{ message }] }
      },
      types: numbers,
    },
  }
}
