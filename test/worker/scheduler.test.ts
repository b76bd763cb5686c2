import { describe, expect, test } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import type { JobDefinition } from '../../src/definition/definition.ts'
import type { Occurrence } from '../../src/queue/contract/schedule-store.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import { misfirePolicy } from '../../src/scheduling/misfire.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { entryOf, Followed } from '../../src/worker/scheduler/followed.ts'
import {
  at,
  day,
  envelopeOf,
  hour,
  job,
  minute,
  notedSchedules,
  startMs,
  steps,
  schedulerWorld as world,
} from './scheduler-world.ts'

describe('a tick', () => {
  test('J20: stores the current and the next occurrence', async () => {
    const { scheduler, store } = world({ definitions: [job('report', '30 2 * * *')], nowMs: at('02:30:00') })
    expect(await scheduler.tick()).toEqual({ enqueued: 2, nextAt: at('02:30:00') + day, failed: 0 })
    expect(store.times('report')).toEqual([at('02:30:00'), at('02:30:00') + day])
  })

  test('stores the current occurrence of a schedule that was there when its minute began, and of a new one only the next', async () => {
    const known = job('known', '30 2 * * *')
    const clock = new ManualClock(at('02:20:00'))
    const store = notedSchedules(clock)
    await store.schedules.register([entryOf(Followed.ofCode(known, parseCron('30 2 * * *', 'UTC')))])
    await clock.advance(at('02:30:20') - clock.now())
    const { scheduler } = world({ definitions: [known, job('new', '30 2 * * *')], clock, store })
    await scheduler.tick()
    expect(store.times('known')).toEqual([at('02:30:00'), at('02:30:00') + day])
    expect(store.times('new')).toEqual([at('02:30:00') + day])
  })

  test('stores nothing that fell due before a new schedule was registered, however long that took', async () => {
    const { scheduler, store, clock } = world({
      definitions: [job('report', '*/10 * * * * *', { misfire: misfirePolicy('all') })],
      nowMs: at('02:30:05'),
    })
    store.beforeRegister = () => clock.advance(20_000)
    await scheduler.tick()
    await clock.advance(10_000)
    await scheduler.tick()
    expect(store.times('report')).toEqual([at('02:30:30'), at('02:30:40')])
  })

  test('stores only the next occurrence where none is current', async () => {
    const { scheduler, store } = world({ definitions: [job('report', '30 2 * * *')], nowMs: at('02:31:00') })
    expect(await scheduler.tick()).toEqual({ enqueued: 1, nextAt: at('02:30:00') + day, failed: 0 })
    expect(store.times('report')).toEqual([at('02:30:00') + day])
  })

  test('gives each occurrence an envelope with the arguments of its definition and its own instant', async () => {
    const { scheduler, store } = world({
      definitions: [job('report', '0 * * * *', { args: { kind: 'short' } })],
      nowMs: at('00:10:00'),
    })
    await scheduler.tick()
    const [occurrence] = store.stored
    expect(occurrence?.envelope).toMatchObject({ job: 'report', payload: '{"kind":"short"}', runAt: at('01:00:00') })
  })

  test('registers all schedules in one call, once, under the keys of their jobs', async () => {
    const definitions = [
      job('report', '30 2 * * *'),
      job('digest', '0 6 * * *', { timezone: 'Europe/Paris', name: 'Daily digest' }),
    ]
    const { scheduler, store, clock } = world({ definitions })
    await scheduler.tick()
    await clock.advance(day)
    await scheduler.tick()
    expect(store.registered).toEqual([
      [
        { name: 'report', expression: '0 30 2 * * *', timezone: 'UTC', version: expect.any(String) },
        { name: 'digest', expression: '0 0 6 * * *', timezone: 'Europe/Paris', version: expect.any(String) },
      ],
    ])
  })

  test('registers a schedule again that changed, and stores its occurrences', async () => {
    const definitions = [job('report', '30 2 * * *'), job('digest', '0 6 * * *')]
    const { scheduler, store } = world({ definitions })
    await scheduler.tick()
    definitions[0] = job('report', '45 3 * * *')
    expect(await scheduler.tick()).toMatchObject({ enqueued: 1 })
    expect(store.registered[1]).toMatchObject([{ name: 'report', expression: '0 45 3 * * *', timezone: 'UTC' }])
    expect(store.times('report')).toContain(at('03:45:00'))
  })

  test('stores an occurrence again that the old and the changed schedule share, since changing withdrew it', async () => {
    const definitions = [job('report', '*/5 * * * *')]
    const { scheduler, store } = world({ definitions, nowMs: at('00:06:00') })
    await scheduler.tick()
    definitions[0] = job('report', '*/10 * * * *')
    await scheduler.tick()
    expect(store.enqueued).toEqual([[at('00:10:00')], [at('00:10:00')]])
  })

  test('stores all occurrences in one call', async () => {
    const { scheduler, store } = world({ definitions: [job('a', '* * * * *'), job('b', '* * * * *'), job('c', '0 5 * * *')] })
    expect(await scheduler.tick()).toEqual({ enqueued: 5, nextAt: startMs + minute, failed: 0 })
    expect(store.calls).toEqual(['register', 'standings', 'enqueue', 'sweep'])
  })

  test('does not call the store where there is nothing new', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '*/5 * * * *')] })
    await scheduler.tick()
    store.calls.length = 0
    await clock.advance(minute)
    expect(await scheduler.tick()).toEqual({ enqueued: 0, nextAt: startMs + 5 * minute, failed: 0 })
    expect(store.calls).toEqual([])
  })

  test('stores only the occurrence that is new', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '*/5 * * * *')] })
    await scheduler.tick()
    await clock.advance(5 * minute)
    expect(await scheduler.tick()).toEqual({ enqueued: 1, nextAt: startMs + 10 * minute, failed: 0 })
    expect(store.enqueued.at(-1)).toEqual([startMs + 10 * minute])
  })

  test('tells of occurrences that it stored, and not of those that were there', async () => {
    const told: [string, number][] = []
    const clock = new ManualClock(startMs)
    const store = notedSchedules(clock)
    const definitions = [job('report', '0 * * * *')]
    await world({ definitions, store, clock }).scheduler.tick()
    const onEnqueued = (schedule: string, instant: number) => told.push([schedule, instant])
    const { scheduler } = world({ definitions, store, clock, onEnqueued })
    expect(await scheduler.tick()).toMatchObject({ enqueued: 0 })
    expect(told).toEqual([])
    await clock.advance(hour)
    await scheduler.tick()
    expect(told).toEqual([['report', startMs + 2 * hour]])
  })

  test('leaves out what is disabled, has no schedule or belongs to another environment', async () => {
    const definitions = [
      job('disabled', '* * * * *', { enabled: false }),
      job('unscheduled', null),
      job('elsewhere', '* * * * *', { environments: ['staging'] }),
      job('here', '* * * * *', { environments: ['staging', 'production'] }),
      job('everywhere', '* * * * *'),
    ]
    const { scheduler, store } = world({ definitions, environment: 'production' })
    await scheduler.tick()
    expect(store.names()).toEqual(['everywhere', 'here'])
    expect(store.registered.flat().map(({ name }) => name)).toEqual(['here', 'everywhere'])
  })

  test('leaves out what names environments where the program has none', async () => {
    const definitions = [job('elsewhere', '* * * * *', { environments: ['staging'] })]
    const { scheduler, store } = world({ definitions, environment: null })
    expect(await scheduler.tick()).toEqual({ enqueued: 0, nextAt: null, failed: 0 })
    expect(store.calls).toEqual([])
  })

  test('goes on where one definition fails, says so once for each occurrence, and tries again', async () => {
    let isBroken = true
    const { scheduler, store, errors, clock } = world({
      definitions: [job('broken', '0 * * * *'), job('sound', '* * * * *')],
      envelope: async (definition, instant) => {
        if (definition.job === 'broken' && isBroken) throw new TreadleError('PAYLOAD_INVALID', 'to must be a string')
        return envelopeOf(definition, instant)
      },
    })
    await clock.advance(10 * minute)
    for (let ticks = 0; ticks < 3; ticks++) {
      await scheduler.tick()
      await clock.advance(minute)
    }
    expect(store.names()).toEqual(['sound'])
    expect(errors).toMatchObject([{ code: 'PAYLOAD_INVALID', message: expect.stringMatching(/"broken".*to must be a string/) }])
    isBroken = false
    await scheduler.tick()
    expect(store.times('broken')).toEqual([at('01:00:00')])
  })

  test('goes on where one schedule throws', async () => {
    const broken = job('broken', '* * * * *').withSchedule({
      ...parseCron('* * * * *', 'UTC'),
      next: () => {
        throw new Error('no time')
      },
    })
    const { scheduler, store, errors } = world({ definitions: [broken, job('sound', '* * * * *')] })
    await scheduler.tick()
    await scheduler.tick()
    expect(store.names()).toEqual(['sound'])
    expect(errors).toMatchObject([{ message: expect.stringContaining('no time') }])
  })

  test('rejects where the store fails, and stores everything the next time', async () => {
    const { scheduler, store } = world({ definitions: [job('report', '* * * * *')] })
    store.failures = 1
    await expect(scheduler.tick()).rejects.toThrow('the disk is full')
    expect(await scheduler.tick()).toMatchObject({ enqueued: 2 })
  })

  test('goes back with a clock that was set back', async () => {
    const clock = new ManualClock(startMs + 365 * day)
    const { scheduler, store } = world({ definitions: [job('report', '* * * * *')], clock })
    await scheduler.tick()
    clock.now = () => startMs
    expect(await scheduler.tick()).toEqual({ enqueued: 1, nextAt: startMs + minute, failed: 0 })
    expect(store.times('report')).toContain(startMs + minute)
  })
})

describe('forgetting', () => {
  test('takes occurrences older than eight days, at most once in ten minutes', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '* * * * *')] })
    for (let ticks = 0; ticks < 20; ticks++) {
      await scheduler.tick()
      await clock.advance(minute)
    }
    expect(store.forgotten).toEqual([startMs - 8 * day, startMs + 10 * minute - 8 * day])
  })

  test('goes on after the clock was set back', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '* * * * *')], nowMs: startMs + day })
    await scheduler.tick()
    clock.now = () => startMs
    await scheduler.tick()
    expect(store.forgotten).toEqual([startMs + day - 8 * day, startMs - 8 * day])
  })

  test('goes on in batches until all are gone', async () => {
    const { scheduler, store } = world({ definitions: [job('report', '0 0 * * *')] })
    const old: Occurrence[] = []
    for (let second = 1; second <= 2_500; second++) {
      const instant = startMs - 9 * day - second * 1_000
      old.push({ schedule: 'old', at: instant, envelope: envelopeOf(job('old', null), instant) })
    }
    await store.backend.store.schedules.enqueue(old)
    for (const { envelope } of old) await store.backend.store.cancel(envelope.id)
    await scheduler.tick()
    expect((await store.schedules.occurrences({ keys: old })).filter((each) => each !== null)).toHaveLength(1)
    expect(store.forgotten).toHaveLength(3)
  })

  test('that fails is reported and does not fail the tick', async () => {
    const { scheduler, store, errors } = world({ definitions: [job('report', '0 0 * * *')] })
    store.sweep = () => Promise.reject(new Error('busy'))
    expect(await scheduler.tick()).toMatchObject({ enqueued: 2 })
    expect(errors).toMatchObject([{ message: 'busy' }])
  })
})

describe('X37: two schedulers on one store', () => {
  test('never store an occurrence twice and leave none out', async () => {
    const clock = new ManualClock(startMs)
    const store = notedSchedules(clock)
    const told: string[] = []
    const onEnqueued = (schedule: string, instant: number) => told.push(`${schedule}|${instant}`)
    const definitions = [job('minutely', '* * * * *'), job('often', '*/20 * * * * *')]
    const schedulers = [1, 2].map(() => world({ definitions, store, clock, onEnqueued }).scheduler)
    for (const scheduler of schedulers) void scheduler.start()
    await clock.advance(hour)
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()))
    expect(new Set(told).size).toBe(told.length)
    expect(store.times('minutely')).toEqual(steps(startMs, startMs + hour + minute, minute))
    expect(store.times('often')).toEqual(steps(startMs, startMs + hour + 20_000, 20_000))
  })
})

describe('the loop', () => {
  test('is free of drift over hours', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('minutely', '* * * * *')], nowMs: startMs + 12_345 })
    const wakes: number[] = []
    store.beforeEnqueue = async () => {
      wakes.push(clock.now())
      // Every call takes its time, which must not add up.
      await new Promise<void>((resolve) => clock.timer(137, resolve))
    }
    void scheduler.start()
    await clock.advance(6 * hour)
    await scheduler.stop()
    expect(store.times('minutely')).toEqual(steps(startMs + minute, startMs + 6 * hour + minute, minute))
    expect(wakes.slice(1).every((wake) => wake % minute === 0)).toBe(true)
  })

  test('sleeps until the next occurrence, and at most 30 seconds', async () => {
    const ticks: number[] = []
    const { scheduler, clock } = world({
      definitions: [job('daily', '0 0 * * *')],
      nowMs: at('23:59:10'),
      onTick: ({ startedAt }) => ticks.push(startedAt),
    })
    void scheduler.start()
    await clock.advance(80_000)
    expect(ticks).toEqual([at('23:59:10'), at('23:59:40'), startMs + day, startMs + day + 30_000])
    await scheduler.stop()
  })

  test('looks for new definitions where there are none', async () => {
    const definitions: JobDefinition[] = []
    const { scheduler, store, clock } = world({ definitions })
    void scheduler.start()
    await clock.advance(0)
    definitions.push(job('late', '0 0 * * *'))
    await clock.advance(30_000)
    await scheduler.stop()
    expect(store.names()).toEqual(['late'])
  })

  test('reports a failing store, tries again with growing pauses, and recovers', async () => {
    const { scheduler, store, errors, clock } = world({ definitions: [job('report', '* * * * *')] })
    const tries: number[] = []
    store.failures = 7
    store.beforeRegister = async () => void tries.push(clock.now() - startMs)
    void scheduler.start()
    await clock.advance(5 * minute)
    await scheduler.stop()
    // Three quarters of 2, 4, 8, 16, 30, 30 and 30 seconds, since chance is one half.
    const pauses = tries.slice(1).map((time, index) => time - (tries[index] as number))
    expect(pauses).toEqual([1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500])
    expect(errors).toHaveLength(7)
    expect(store.times('report').at(-1)).toBe(startMs + 6 * minute)
  })

  test.each([0, 0.999])('pauses between one second and thirty where chance is %d', async (chance) => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '* * * * *')] })
    const tries: number[] = []
    clock.setRandom(() => chance)
    store.failures = Number.POSITIVE_INFINITY
    store.beforeRegister = async () => void tries.push(clock.now())
    void scheduler.start()
    await clock.advance(5 * minute)
    await scheduler.stop()
    const pauses = tries.slice(1).map((time, index) => time - (tries[index] as number))
    expect(pauses.length).toBeGreaterThan(8)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000)
  })

  test('starts once, stops twice, and starts again', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '* * * * *')] })
    void scheduler.start()
    void scheduler.start()
    await clock.advance(0)
    expect(store.calls.filter((call) => call === 'enqueue')).toHaveLength(1)
    await Promise.all([scheduler.stop(), scheduler.stop()])
    await scheduler.stop()
    expect(clock.nextTimerAt).toBeNull()
    await clock.advance(10 * minute)
    expect(store.times('report')).toHaveLength(2)
    void scheduler.start()
    await clock.advance(0)
    expect(store.times('report').at(-1)).toBe(startMs + 11 * minute)
    await scheduler.stop()
  })

  test('starts again where it is told to while it stops', async () => {
    const { scheduler, clock } = world({ definitions: [job('report', '* * * * *')] })
    void scheduler.start()
    await clock.advance(0)
    const stopped = scheduler.stop()
    void scheduler.start()
    await stopped
    await clock.advance(0)
    expect(clock.nextTimerAt).not.toBeNull()
    await scheduler.stop()
  })

  test('stops after the tick under way', async () => {
    const { scheduler, store, clock } = world({ definitions: [job('report', '* * * * *')] })
    let finish = () => {}
    store.beforeEnqueue = () =>
      new Promise((resolve) => {
        finish = resolve
      })
    void scheduler.start()
    await clock.advance(0)
    let isStopped = false
    const stopped = scheduler.stop().then(() => {
      isStopped = true
    })
    await clock.advance(0)
    expect(isStopped).toBe(false)
    finish()
    await stopped
    expect(store.times('report')).toHaveLength(2)
  })

  test('may be stopped before it was started', async () => {
    const { scheduler, store } = world({ definitions: [job('report', '* * * * *')] })
    await scheduler.stop()
    expect(store.calls).toEqual([])
  })
})
