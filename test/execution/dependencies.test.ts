import { describe, expect, it, vi } from 'vitest'
import type { OnFailure } from '../../src/definition/policies/dependency.ts'
import { drain } from '../../src/testing/drain.ts'
import { gate, until, type World, world } from '../world.ts'
import { store } from './stored.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const midnight = Date.UTC(2026, 0, 1)
const withoutScheduler = { scheduler: false } as const

describe('X6, O10: a scheduled run that depends on another job', () => {
  it('waits for the success of its run, burns no attempt by that, and looks ever less often', async () => {
    const all = world()
    const { open, opened } = gate()
    const extract = all.jobs.define('extract', () => opened).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(extract)
    await store(all, extract, midnight)
    const run = await store(all, load, midnight)
    const working = all.jobs.work({ ...withoutScheduler, signals: false })
    await all.clock.advance(2 * minute)
    expect(await all.record(run)).toMatchObject({ state: 'scheduled', attempts: 0 })
    const delays = all.happened.flatMap(({ event }) => ('delayMs' in event ? [event.delayMs] : []))
    expect(delays.slice(0, 6)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 1_250])
    expect(Math.max(...delays)).toBe(15_000)
    open()
    await all.clock.advance(15 * second)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded', attempts: 1 })
    await all.jobs.stop()
    await working
  })

  it('runs after it in a chain of three, whatever the order in which they were stored', async () => {
    const all = world()
    const ran: string[] = []
    const extract = all.jobs.define('extract', async () => void ran.push('extract')).daily()
    const transform = all.jobs
      .define('transform', async () => void ran.push('transform'))
      .daily()
      .dependsOn('extract')
    const load = all.jobs
      .define('load', async () => void ran.push('load'))
      .daily()
      .dependsOn(transform)
    for (const job of [load, transform, extract]) await store(all, job, midnight)
    await drain(all.jobs, { clock: all.clock })
    expect(ran).toEqual(['extract', 'transform', 'load'])
  })

  it('runs after it for each instant that the scheduler follows', async () => {
    const { jobs, clock } = world()
    const ran: string[] = []
    const note =
      (name: string) =>
      async (_: unknown, { occurrence }: { occurrence: Date | null }) =>
        void ran.push(`${name} ${occurrence?.getUTCMinutes()}`)
    jobs.define('load', note('load')).everyMinute().dependsOn('extract')
    jobs.define('extract', note('extract')).everyMinute()
    await drain(jobs, { clock, for: '1m59s' })
    expect(ran).toEqual(['extract 0', 'load 0', 'extract 1', 'load 1'])
  })

  it('ends when the first of a chain failed: nothing waits forever', async () => {
    const all = world()
    const extract = failing(all, 'extract').daily()
    const transform = all.jobs
      .define('transform', async () => {})
      .daily()
      .dependsOn(extract)
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(transform)
    const runs = []
    for (const job of [load, transform, extract]) runs.push(await store(all, job, midnight))
    await drain(all.jobs, { clock: all.clock })
    const [loaded, transformed] = await Promise.all(runs.map((run) => all.record(run)))
    expect(transformed).toMatchObject({
      state: 'skipped',
      reason: 'it depends on "extract", whose run of 2026-01-01T00:00:00Z ended as dead',
    })
    expect(loaded).toMatchObject({
      state: 'skipped',
      reason: 'it depends on "transform", whose run of 2026-01-01T00:00:00Z ended as skipped',
    })
  })

  it('waits for the last run of the other one at or before its own instant', async () => {
    const all = world()
    const extract = all.jobs
      .define('extract', async () => {})
      .dailyAt('02:00')
      .overlap('allow')
    const load = all.jobs
      .define('load', async () => {})
      .hourly()
      .dependsOn(extract)
    await store(all, extract, midnight + 2 * hour)
    await store(all, extract, midnight + day + 2 * hour)
    const run = await store(all, load, midnight + 5 * hour)
    await all.clock.advance(5 * hour)
    await all.jobs.run({ ...withoutScheduler, jobs: ['extract'] })
    await all.jobs.run({ ...withoutScheduler, jobs: ['load'] })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('waits while the other one is retried', async () => {
    const all = world()
    const extract = all.jobs
      .define('extract', async (_, { attempt }) => {
        if (attempt < 3) throw new Error('not yet')
      })
      .retries(2, { strategy: 'fixed', base: '1m', jitter: 'none' })
      .daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(extract)
    await store(all, extract, midnight)
    const run = await store(all, load, midnight)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
    expect(all.clock.now()).toBeGreaterThanOrEqual(midnight + 2 * minute)
  })

  it('is not asked again when it is retried itself', async () => {
    const all = world()
    const extract = all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async (_, { attempt }) => {
        if (attempt === 1) throw new Error('not yet')
      })
      .retries(1)
      .daily()
      .dependsOn(extract)
    await store(all, extract, midnight)
    const run = await store(all, load, midnight)
    const find = vi.spyOn(all.backend.store.schedules, 'occurrences')
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded', attempts: 2 })
    expect(find.mock.calls.length).toBeLessThanOrEqual(2)
  })

  it('is put off while the database does not answer', async () => {
    const all = world()
    const extract = all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(extract)
    const run = await store(all, load, midnight)
    vi.spyOn(all.backend.store.schedules, 'occurrences').mockRejectedValueOnce(new Error('the disk is gone'))
    expect(await all.jobs.run(withoutScheduler)).toMatchObject({ snoozed: 1 })
    expect(await all.record(run)).toMatchObject({ state: 'scheduled', attempts: 0 })
    expect(all.log).toEqual([expect.stringContaining('could not be read: the disk is gone; trying again')])
  })
})

describe('X6: where a job that is depended on did not succeed', () => {
  const endings: Readonly<Record<string, (all: World) => Promise<void>>> = {
    dead: async (all) => void (await store(all, failing(all, 'extract').daily(), midnight)),
    skipped: async (all) => {
      await store(
        all,
        all.jobs
          .define('extract', async () => {})
          .when(() => false)
          .daily(),
        midnight,
      )
    },
    cancelled: async (all) => {
      const run = await store(all, all.jobs.define('extract', async () => {}).daily(), midnight)
      await all.jobs.handle(run.id).cancel()
    },
  }
  const policies: readonly [OnFailure, object, readonly string[]][] = [
    ['skip', { state: 'skipped', attempts: 0 }, ['job:skipped']],
    ['run', { state: 'succeeded', attempts: 1 }, ['job:started', 'job:succeeded']],
    ['fail', { state: 'dead', reason: 'dependency' }, ['job:dead']],
  ]

  it.each(
    Object.keys(endings).flatMap((ending) =>
      policies.map(([onFailure, record, names]) => [ending, onFailure, record, names] as const),
    ),
  )('but ended as %s, the policy "%s" holds', async (ending, onFailure, record, names) => {
    const all = world()
    await endings[ending]?.(all)
    const hooks: string[] = []
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('extract', { onFailure })
      .onError(() => hooks.push('onError'))
      .finally(() => hooks.push('finally'))
    const run = await store(all, load, midnight)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject(record)
    const ofLoad = all.happened.filter(({ name, event }) => name !== 'job:snoozed' && 'job' in event && event.job === 'load')
    expect(ofLoad.map(({ name }) => name)).toEqual(names)
    expect(hooks).toEqual(onFailure === 'run' ? ['finally'] : [])
    const why = `it depends on "extract", whose run of 2026-01-01T00:00:00Z ended as ${ending}`
    if (onFailure === 'skip') expect(await all.record(run)).toMatchObject({ reason: why })
    if (onFailure === 'run') expect(all.log).toContain(`warn [load ${run.id}] runs although ${why}`)
    if (onFailure === 'fail') expect(await all.record(run)).toMatchObject({ errors: [{ code: 'RUN_FAILED', message: why }] })
  })

  it('"run" still waits until it has ended', async () => {
    const all = world()
    const { open, opened } = gate()
    const extract = all.jobs
      .define('extract', async () => {
        await opened
        throw new Error('broken')
      })
      .daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn([extract], { onFailure: 'run' })
    const extracting = await store(all, extract, midnight)
    const run = await store(all, load, midnight)
    const working = all.jobs.run({ ...withoutScheduler, limit: 2 })
    await until(async () => (await all.record(run)).state === 'scheduled')
    expect(await all.record(extracting)).toMatchObject({ state: 'running' })
    open()
    await working
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('the first of several that failed decides, while the others are still under way', async () => {
    const all = world()
    const one = failing(all, 'one').daily()
    const two = all.jobs.define('two', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('two')
      .dependsOn('one', { onFailure: 'fail' })
    await store(all, two, midnight, midnight + hour)
    await store(all, one, midnight)
    const run = await store(all, load, midnight)
    await all.jobs.run(withoutScheduler)
    await all.clock.advance(second)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'dead', reason: 'dependency' })
  })

  it('since it is disabled, the policy holds at once', async () => {
    const all = world()
    all.jobs
      .define('extract', async () => {})
      .daily()
      .disable()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('extract')
    const run = await store(all, load, midnight)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({
      state: 'skipped',
      reason: 'it depends on "extract", whose schedule is not followed here',
    })
  })

  it.each([
    ['production', 'succeeded'],
    ['test', 'skipped'],
  ])('since it is not followed here, the policy holds at once: in %s it is %s', async (environment, state) => {
    const all = world({ environment })
    const extract = all.jobs
      .define('extract', async () => {})
      .daily()
      .environments('production')
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(extract)
    await store(all, extract, midnight)
    const run = await store(all, load, midnight)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state })
  })
})

describe('where the run of a job that is depended on was never stored', () => {
  it('a run that a scheduler saw fall due waits for two minutes, then the policy holds', async () => {
    const all = world()
    all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('extract')
    const run = await store(all, load, midnight)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({
      state: 'skipped',
      reason: 'it depends on "extract", whose run of 2026-01-01T00:00:00Z never took place',
    })
    expect(all.clock.now()).toBeGreaterThan(midnight + 2 * minute)
    expect(all.clock.now()).toBeLessThan(midnight + 3 * minute)
  })

  it('a run that was stored late waits for two minutes from then', async () => {
    const all = world()
    all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('extract')
    await all.clock.advance(9 * hour)
    const run = await store(all, load, midnight, midnight + 9 * hour)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'scheduled' })
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'skipped' })
  })

  it('a run that stands for an instant to come waits for two minutes too', async () => {
    const all = world()
    all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('extract')
    const run = await store(all, load, midnight + 30 * day, midnight)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'skipped' })
    expect(all.clock.now()).toBeLessThan(midnight + 3 * minute)
  })

  it('a run that nobody saw waits for a scheduler, which may still store the other one', async () => {
    const all = world()
    const extract = all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(extract)
    const run = await store(all, load, midnight + day)
    await all.clock.advance(day + 7 * hour)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'scheduled' })
    await store(all, extract, midnight + day)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('a run that nobody saw is missed in the end', async () => {
    const all = world()
    all.jobs.define('extract', async () => {}).daily()
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn('extract')
      .misfire('skip', { within: '1h' })
    const run = await store(all, load, midnight + day)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'skipped', reason: expect.stringContaining('missed: ') })
  })

  it('a later one stands in for it that made up for the time when nobody was there', async () => {
    const all = world()
    const extract = all.jobs.define('extract', async () => {}).hourly()
    const load = all.jobs
      .define('load', async () => {})
      .dailyAt('02:30')
      .dependsOn(extract)
    const run = await store(all, load, midnight + 2 * hour + 30 * minute)
    await all.clock.advance(9 * hour)
    const madeUp = await store(all, extract, midnight + 9 * hour)
    await store(all, load, midnight + day + 2 * hour + 30 * minute)
    const working = all.jobs.run({ ...withoutScheduler, jobs: ['load'] })
    expect(await working).toMatchObject({ snoozed: 1 })
    await all.jobs.run({ ...withoutScheduler, jobs: ['extract'] })
    expect(await all.record(madeUp)).toMatchObject({ state: 'succeeded' })
    await all.clock.advance(15 * second)
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('a later one stands in for it also where it was left out and that one is still to be stored', async () => {
    const all = world()
    const extract = all.jobs.define('extract', async () => {}).hourly()
    const load = all.jobs
      .define('load', async () => {})
      .dailyAt('02:30')
      .dependsOn(extract)
    await store(all, extract, midnight + 2 * hour)
    const run = await store(all, load, midnight + 2 * hour + 30 * minute)
    await all.clock.advance(9 * hour)
    await all.backend.store.schedules.skipWaiting({
      schedule: 'extract',
      before: midnight + 9 * hour,
      unseenOnly: false,
      why: 'missed',
    })
    await all.jobs.run(withoutScheduler)
    expect(await all.record(run)).toMatchObject({ state: 'scheduled' })
    await store(all, extract, midnight + 9 * hour)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it.each(['dead', 'cancelled'])('none stands in for one that was stored and ended as %s', async (ending) => {
    const all = world()
    const extract = all.jobs
      .define('extract', async (_, { occurrence }) => {
        if (occurrence?.getTime() === midnight + 2 * hour) throw new Error('broken')
      })
      .hourly()
      .overlap('allow')
    const load = all.jobs
      .define('load', async () => {})
      .dailyAt('02:30')
      .dependsOn(extract)
    await all.clock.advance(4 * hour)
    const failed = await store(all, extract, midnight + 2 * hour)
    if (ending === 'cancelled') await all.jobs.handle(failed.id).cancel()
    await store(all, extract, midnight + 4 * hour)
    const run = await store(all, load, midnight + 2 * hour + 30 * minute)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(failed)).toMatchObject({ state: ending })
    expect(await all.record(run)).toMatchObject({ state: 'skipped' })
  })

  it('the last but one of those stands in for it, since the last one may always be under way', async () => {
    const all = world()
    const extract = all.jobs
      .define('extract', async () => {})
      .everyMinute()
      .overlap('allow')
    const load = all.jobs
      .define('load', async () => {})
      .dailyAt('02:30')
      .dependsOn(extract)
    await all.clock.advance(9 * hour)
    const run = await store(all, load, midnight + 2 * hour + 30 * minute)
    await store(all, extract, midnight + 9 * hour - minute)
    await store(all, extract, midnight + 9 * hour, midnight + 10 * hour)
    await all.jobs.run({ ...withoutScheduler, jobs: ['extract'] })
    await all.jobs.run({ ...withoutScheduler, jobs: ['load'] })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })
})

describe('a run that depends on a repeat', () => {
  it('waits for the run of it that was due last', async () => {
    const all = world()
    const sync = all.jobs.define('sync', async () => {}).repeat('FINISHED, +1 HOUR')
    const load = all.jobs
      .define('load', async () => {})
      .daily()
      .dependsOn(sync)
    await all.backend.store.schedules.register([{ name: 'sync', expression: 'FINISHED, +1 HOUR', timezone: 'UTC', version: '1' }])
    await store(all, sync, midnight)
    await store(all, sync, midnight + hour)
    const run = await store(all, load, midnight)
    await all.jobs.run({ ...withoutScheduler, jobs: ['load'] })
    expect(await all.record(run)).toMatchObject({ state: 'scheduled' })
    await all.jobs.run({ ...withoutScheduler, jobs: ['sync'] })
    await all.clock.advance(second)
    await all.jobs.run({ ...withoutScheduler, jobs: ['load'] })
    expect(await all.record(run)).toMatchObject({ state: 'succeeded' })
  })

  it('does not wait for ever for one that has never run', async () => {
    const all = world()
    all.jobs.define('sync', async () => {}).repeat('FINISHED, +1 HOUR')
    const load = all.jobs
      .define('load', async () => {})
      .repeat('FINISHED, +1 HOUR')
      .dependsOn('sync')
    const run = await store(all, load, midnight + hour)
    await drain(all.jobs, { clock: all.clock })
    expect(await all.record(run)).toMatchObject({ state: 'skipped', reason: 'it depends on "sync", which has never run' })
  })
})

function failing({ jobs }: World, name: string) {
  return jobs.define(name, async () => {
    throw new Error('broken')
  })
}
