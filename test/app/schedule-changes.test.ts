import { describe, expect, test } from 'vitest'
import { type World, world } from '../world.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Works for a while on the hand-moved clock. */
async function workFor({ jobs, clock }: World, ms: number, options: object = {}): Promise<void> {
  const working = jobs.work({ signals: false, ...options })
  await clock.advance(ms)
  const stopped = jobs.stop()
  await clock.advance(2 * minute)
  await stopped
  await working
}

async function toFullHour({ clock }: World): Promise<void> {
  await clock.advance(hour - (clock.now() % hour))
}

describe('a deployment that changes a scheduled job', () => {
  test('reaches the run that was stored ahead', async () => {
    const before = world()
    const seen: unknown[] = []
    before.jobs
      .define('report', (payload: unknown) => void seen.push(payload))
      .hourly()
      .args('old')
    await before.jobs.run()
    seen.length = 0
    const after = before.other()
    after.jobs
      .define('report', (payload: unknown) => void seen.push(payload))
      .hourly()
      .args('new')
    await workFor(after, 2 * hour)
    expect(seen.length).toBeGreaterThan(0)
    expect(new Set(seen)).toEqual(new Set(['new']))
  })

  test('to another queue leaves nothing behind that holds later runs back', async () => {
    const before = world()
    await toFullHour(before)
    before.jobs
      .define('tick', () => null)
      .everyMinute()
      .queue('a')
    await before.jobs.run({ limit: 1 })
    await before.clock.advance(5 * minute)
    await before.jobs.run({ queues: ['nobody'] })
    const after = before.other()
    let runs = 0
    after.jobs
      .define('tick', () => void runs++)
      .everyMinute()
      .queue('b')
    await workFor(after, 10 * minute, { queues: ['b'] })
    expect(runs).toBeGreaterThanOrEqual(9)
  })

  test('to disabled skips the run that was stored ahead', async () => {
    const before = world()
    await toFullHour(before)
    before.jobs.define('report', () => null).hourly()
    await before.jobs.run()
    await before.clock.advance(2 * minute)
    const after = before.other()
    let runs = 0
    after.jobs
      .define('report', () => void runs++)
      .hourly()
      .disable()
    await workFor(after, 2 * hour)
    expect(runs).toBe(0)
    const [last] = await after.backend.store.list({ limit: 1, state: 'skipped' })
    expect(last?.reason).toBe('its schedule is disabled')
  })
})

describe('a run that depends on a job', () => {
  test.each([
    ['skip', 0],
    ['run', 3],
  ] as const)('whose schedule is paused does not wait for it (%s)', async (onFailure, least) => {
    const all = world()
    await toFullHour(all)
    let runs = 0
    all.jobs.define('base', () => null).everyMinute()
    all.jobs
      .define('report', () => void runs++)
      .everyMinute()
      .dependsOn('base', { onFailure })
    await all.jobs.schedules.pause('base')
    await workFor(all, 4 * minute)
    expect(onFailure === 'skip' ? runs === least : runs >= least).toBe(true)
    const skipped = await all.backend.store.list({ limit: 20, job: 'report', state: 'skipped' })
    for (const { reason } of skipped) expect(reason).toMatch(/"base", whose schedule is paused/)
  })

  test('that has not been due since it was first seen ends at once', async () => {
    const all = world()
    await toFullHour(all)
    await all.clock.advance(5 * minute)
    all.jobs.define('base', () => null).daily()
    all.jobs
      .define('report', () => null)
      .everyMinute()
      .dependsOn('base')
    await workFor(all, minute + 5 * second)
    const [first] = await all.backend.store.list({ limit: 1, job: 'report', state: 'skipped' })
    expect(first?.reason).toMatch(/"base", which has not been due yet/)
  })

  test('whose schedule was changed goes by its last run before that', async () => {
    const before = world()
    await toFullHour(before)
    before.jobs.define('load', () => null).hourly()
    await before.jobs.run()
    await before.clock.advance(10 * minute)
    const after = before.other()
    let runs = 0
    after.jobs.define('load', () => null).hourlyAt(5)
    after.jobs
      .define('report', () => void runs++)
      .everyMinute()
      .dependsOn('load')
    await workFor(after, 5 * minute)
    expect(runs).toBeGreaterThanOrEqual(4)
  })

  test('that repeats and is always under way runs all the same', async () => {
    const all = world()
    await toFullHour(all)
    let runs = 0
    all.jobs
      .define('feed', () => new Promise<void>((resolve) => void all.clock.timer(70 * second, resolve)))
      .repeat('SCHEDULED, +1 MINUTE')
    all.jobs
      .define('report', () => void runs++)
      .everyFiveMinutes()
      .dependsOn('feed')
    await workFor(all, hour)
    expect(runs).toBeGreaterThanOrEqual(8)
  })
})

test('runs that queue wait for one that waits for another attempt: oldest first', async () => {
  const all = world()
  await toFullHour(all)
  const order: string[] = []
  let failures = 1
  all.jobs
    .define('tick', (_, ctx) => {
      order.push(`${ctx.occurrence?.getUTCMinutes()}#${ctx.attempt}`)
      if (failures-- > 0) throw new Error('once')
    })
    .everyMinute()
    .overlap('queue')
    .retries(2, { strategy: 'fixed', base: '150s', jitter: 'none' })
  await workFor(all, 6 * minute)
  expect(order.slice(0, 3)).toEqual(['0#1', '0#2', '1#1'])
})

test('a pass at another time is limited to the last days and to the jobs that are named, and what it stored stays', async () => {
  const { jobs, clock } = world()
  const ran: string[] = []
  for (const name of ['a', 'b']) jobs.define(name, () => void ran.push(name)).dailyAt('08:00')
  const day = 24 * hour
  const at = new Date(clock.now() - (clock.now() % day) - day + 8 * hour)
  expect(await jobs.run({ at, jobs: ['a'] })).toMatchObject({ enqueued: 1, succeeded: 1 })
  expect(await jobs.run({ at, limit: 1, concurrency: 1, jobs: ['b'], queues: ['nobody'] })).toMatchObject({
    enqueued: 1,
    succeeded: 0,
  })
  await jobs.run()
  expect(ran.filter((name) => name === 'b')).not.toEqual([])
  await expect(jobs.run({ at: new Date(clock.now() + hour) })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: /last 7 days/,
  })
  await expect(jobs.run({ at: new Date(clock.now() - 8 * day) })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

test('Y15: a schedule that could not be stored is counted in the report of a pass', async () => {
  const { jobs } = world({ maxPayloadBytes: 100 })
  jobs
    .define('broken', () => null)
    .everyMinute()
    .args('a'.repeat(101))
  jobs.define('sound', () => null).everyMinute()
  expect(await jobs.run()).toMatchObject({ succeeded: 1, failedSchedules: 1 })
})
