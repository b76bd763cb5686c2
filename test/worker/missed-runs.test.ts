import { describe, expect, test } from 'vitest'
import { misfirePolicy } from '../../src/scheduling/misfire.ts'
import { parseRepeat } from '../../src/scheduling/repeating/repeat.ts'
import type { MissedOccurrences } from '../../src/worker/scheduler/schedule-pass.ts'
import { at, day, hour, job, minute, schedulerWorld, startMs, steps } from './scheduler-world.ts'

const all = misfirePolicy('all', { within: '1d', cap: 50 })
const skip = misfirePolicy('skip')

/** A scheduler that looked at `from`, died, and another one that looks at `to`. */
async function outage(definition: ReturnType<typeof job>, from: number, to: number) {
  const missed: MissedOccurrences[] = []
  const first = schedulerWorld({ definitions: [definition], nowMs: from })
  await first.scheduler.tick()
  const before = first.store.times(definition.job)
  await first.clock.advance(to - from)
  const { clock, store } = first
  const second = schedulerWorld({ definitions: [definition], clock, store, onMissed: (each) => missed.push(each) })
  const report = await second.scheduler.tick()
  const added = store.times(definition.job).filter((instant) => !before.includes(instant))
  const skipped = (await store.backend.store.list({ limit: 1_000, state: 'skipped' })).map(({ runAt }) => runAt)
  return { ...second, before, added, skipped, missed, report }
}

describe('X14: runs that were due while nobody was there', () => {
  test('the latest is made up for by default, and what was stored ahead before it is left out', async () => {
    const { before, added, skipped, missed } = await outage(job('hourly', '0 * * * *'), at('00:10:00'), at('09:20:00'))
    expect(before).toEqual([at('01:00:00')])
    expect(added).toEqual([at('09:00:00'), at('10:00:00')])
    expect(skipped).toEqual([at('01:00:00')])
    expect(missed).toEqual([{ schedule: 'hourly', madeUp: [at('09:00:00')], leftOut: 8 }])
  })

  test('one that is made up for is due at once', async () => {
    const { store, clock } = await outage(job('hourly', '0 * * * *'), at('00:10:00'), at('09:20:00'))
    const made = store.stored.find((each) => each.at === at('09:00:00'))
    expect(made?.envelope.runAt).toBe(clock.now())
  })

  test('an outage between two occurrences loses nothing: the next one was stored ahead (J20)', async () => {
    const { added, skipped, missed } = await outage(job('hourly', '0 * * * *'), at('00:10:00'), at('00:50:00'))
    expect([added, skipped, missed]).toEqual([[], [], []])
  })

  test('one that was stored ahead and is still the latest runs late', async () => {
    const { added, skipped, missed } = await outage(job('nightly', '0 2 * * *'), at('00:10:00'), at('09:00:00'))
    expect(added).toEqual([at('02:00:00') + day])
    expect([skipped, missed]).toEqual([[], []])
  })

  test('all within the window are made up for, oldest first, where that is wanted', async () => {
    const definition = job('hourly', '0 * * * *', { misfire: all })
    const { added, skipped, missed } = await outage(definition, at('00:10:00'), at('09:20:00'))
    expect(added).toEqual(steps(at('02:00:00'), at('10:00:00'), hour))
    expect(skipped).toEqual([])
    expect(missed[0]?.madeUp).toEqual(steps(at('02:00:00'), at('09:00:00'), hour))
  })

  test('two weeks of a schedule of each five seconds are not replayed: the cap holds', async () => {
    const definition = job('often', '*/5 * * * * *', { misfire: all })
    const end = startMs + 14 * day
    const { added } = await outage(definition, startMs, end)
    expect(added.filter((instant) => instant <= end)).toEqual(steps(end - 49 * 5_000, end, 5_000))
  })

  test('the cap of all counts the run that was stored ahead too', async () => {
    const definition = job('hourly', '0 * * * *', { misfire: misfirePolicy('all', { cap: 3 }) })
    const { added, skipped } = await outage(definition, at('00:10:00'), at('04:20:00'))
    expect([added, skipped]).toEqual([steps(at('02:00:00'), at('05:00:00'), hour), [at('01:00:00')]])
    const below = await outage(definition, at('00:10:00'), at('03:20:00'))
    expect([below.added, below.skipped]).toEqual([steps(at('02:00:00'), at('04:00:00'), hour), []])
  })

  test('the window of all leaves out what is older, also what was stored ahead', async () => {
    const definition = job('hourly', '0 * * * *', { misfire: misfirePolicy('all', { within: '3h' }) })
    const { added, skipped } = await outage(definition, at('00:10:00'), at('09:20:00'))
    expect(added).toEqual(steps(at('07:00:00'), at('10:00:00'), hour))
    expect(skipped).toEqual([at('01:00:00')])
  })

  test('none is made up for where that is wanted, and the one stored ahead is left out when it is too late', async () => {
    const nightly = await outage(job('nightly', '0 2 * * *', { misfire: skip }), at('00:10:00'), at('09:00:00'))
    expect(nightly.added).toEqual([at('02:00:00') + day])
    expect(nightly.skipped).toEqual([at('02:00:00')])
    const soon = await outage(job('nightly', '0 2 * * *', { misfire: skip }), at('00:10:00'), at('02:00:40'))
    expect(soon.skipped).toEqual([])
  })

  test('of runs of each few seconds the latest one still runs, and all others are counted', async () => {
    const definition = job('often', '*/5 * * * * *', { misfire: skip })
    const { added, skipped, missed } = await outage(definition, startMs, startMs + 32_000)
    expect(added).toEqual([startMs + 30_000, startMs + 35_000])
    expect(skipped).toEqual([startMs + 5_000])
    expect(missed).toEqual([{ schedule: 'often', madeUp: [startMs + 30_000], leftOut: 5 }])
  })

  test('what is left out is counted up to a bound, also where nothing is made up for', async () => {
    const definition = job('often', '* * * * * *', { misfire: misfirePolicy('latest', { within: '1ms' }) })
    const { missed } = await outage(definition, startMs, startMs + day + 500)
    expect(missed).toEqual([{ schedule: 'often', madeUp: [], leftOut: 1_000 }])
  })

  test('a run of this minute that is past its window is left out too', async () => {
    const definition = job('hourly', '0 * * * *', { misfire: misfirePolicy('skip', { within: '10s' }) })
    expect((await outage(definition, at('00:10:00'), at('02:00:50'))).added).toEqual([at('03:00:00')])
    expect((await outage(definition, at('00:10:00'), at('02:00:05'))).added).toEqual([at('02:00:00'), at('03:00:00')])
  })

  test('runs that were seen in time and only wait are not missed', async () => {
    const definitions = [job('minutely', '* * * * *')]
    const { scheduler, clock, store } = schedulerWorld({ definitions })
    for (let passed = 0; passed < 5; passed++) {
      await scheduler.tick()
      await clock.advance(minute)
    }
    await scheduler.tick()
    await clock.advance(3 * minute)
    await schedulerWorld({ definitions, clock, store }).scheduler.tick()
    const skipped = await store.backend.store.list({ limit: 20, state: 'skipped' })
    expect(skipped.map(({ runAt }) => runAt)).toEqual([startMs + 6 * minute])
  })

  test('a window of latest leaves out what is older', async () => {
    const definition = job('nightly', '0 2 * * *', { misfire: misfirePolicy('latest', { within: '6h' }) })
    expect((await outage(definition, at('00:10:00'), at('07:00:00'))).skipped).toEqual([])
    expect((await outage(definition, at('00:10:00'), at('09:00:00'))).skipped).toEqual([at('02:00:00')])
  })

  test('a weekly run survives weekly restarts', async () => {
    const { added } = await outage(job('weekly', '0 0 * * 0'), startMs, startMs + 13 * day)
    expect(added).toContain(Date.parse('2026-01-11T00:00:00Z'))
  })

  test('a schedule that is new has missed nothing', async () => {
    const { scheduler, store } = schedulerWorld({ definitions: [job('hourly', '0 * * * *')], nowMs: at('09:20:00') })
    await scheduler.tick()
    expect(store.times('hourly')).toEqual([at('10:00:00')])
  })

  test('a schedule that was changed has missed nothing of its new times', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [job('hourly', '0 * * * *')], nowMs: at('00:10:00') })
    await scheduler.tick()
    await clock.advance(9 * hour)
    const changed = schedulerWorld({ definitions: [job('hourly', '30 * * * *')], clock, store })
    await changed.scheduler.tick()
    expect(store.times('hourly').filter((instant) => instant > at('01:00:00'))).toEqual([at('09:30:00')])
  })

  test('a scheduler that stood still does not skip what another one stored meanwhile', async () => {
    const definitions = [job('minutely', '* * * * *')]
    const slow = schedulerWorld({ definitions })
    await slow.scheduler.tick()
    const { clock, store } = slow
    const quick = schedulerWorld({ definitions, clock, store })
    for (let passed = 0; passed < 10; passed++) {
      await quick.scheduler.tick()
      await clock.advance(minute)
    }
    await slow.scheduler.tick()
    expect(await store.backend.store.list({ limit: 10, state: 'skipped' })).toEqual([])
    expect(store.times('minutely')).toEqual(steps(startMs, startMs + 11 * minute, minute))
  })

  test('a scheduler that is a few seconds late leaves no run out', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [job('often', '* * * * * *')] })
    await scheduler.tick()
    await clock.advance(4_000)
    await scheduler.tick()
    expect(store.times('often')).toEqual(steps(startMs, startMs + 5_000, 1_000))
  })
})

describe('a deployment', () => {
  test('what another program registered last counts: the old one stores nothing more of its own', async () => {
    const old = schedulerWorld({ definitions: [job('report', '0 2 * * *')] })
    await old.scheduler.tick()
    const { clock, store } = old
    const fresh = schedulerWorld({ definitions: [job('report', '0 14 * * *')], clock, store })
    await fresh.scheduler.tick()
    for (let passed = 0; passed < 5; passed++) {
      await clock.advance(30_000)
      await old.scheduler.tick()
      await fresh.scheduler.tick()
    }
    const waiting = await store.backend.store.list({ limit: 10, state: 'scheduled' })
    expect(waiting.map(({ runAt }) => runAt)).toEqual([at('14:00:00')])
  })

  test.each([
    ['arguments', { args: { to: 'new' } }],
    ['a queue', { queue: 'other' }],
    ['a priority', { priority: 9 }],
    ['attempts', { maxAttempts: 4 }],
  ])('with other %s stores what waits anew', async (_, change) => {
    const first = schedulerWorld({ definitions: [job('report', '0 2 * * *', { args: { to: 'old' } })], nowMs: at('01:00:00') })
    await first.scheduler.tick()
    const { clock, store } = first
    const before = store.stored.length
    await schedulerWorld({
      definitions: [job('report', '0 2 * * *', { args: { to: 'old' }, ...change })],
      clock,
      store,
    }).scheduler.tick()
    expect(store.stored.slice(before).map((each) => each.at)).toEqual([at('02:00:00')])
    expect(await store.backend.store.list({ limit: 10, state: 'scheduled' })).toHaveLength(1)
  })

  test('without any change stores nothing anew', async () => {
    const definition = () => job('report', '0 2 * * *', { args: { to: 'same' }, meta: { team: 'a' } })
    const first = schedulerWorld({ definitions: [definition()], nowMs: at('01:00:00') })
    await first.scheduler.tick()
    const { clock, store } = first
    expect(await schedulerWorld({ definitions: [definition()], clock, store }).scheduler.tick()).toMatchObject({ enqueued: 0 })
  })
})

describe('a schedule that is paused', () => {
  test('stores nothing, and after its end goes on with the next occurrence', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [job('hourly', '0 * * * *')], nowMs: at('00:10:00') })
    await scheduler.tick()
    await store.schedules.change('hourly', 'pause')
    await clock.advance(5 * hour)
    await scheduler.tick()
    expect(store.times('hourly')).toEqual([at('01:00:00')])
    await store.schedules.change('hourly', 'resume')
    expect(await scheduler.tick()).toEqual({ enqueued: 1, nextAt: at('06:00:00'), failed: 0 })
    expect(store.times('hourly')).toEqual([at('01:00:00'), at('06:00:00')])
  })

  test('that is resumed within the minute of an occurrence leaves that one out', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [job('hourly', '0 * * * *')], nowMs: at('00:10:00') })
    await scheduler.tick()
    await clock.advance(at('01:30:00') - clock.now())
    await store.schedules.change('hourly', 'pause')
    await clock.advance(at('03:00:20') - clock.now())
    await store.schedules.change('hourly', 'resume')
    await scheduler.tick()
    expect(store.times('hourly')).toEqual([at('01:00:00'), at('04:00:00')])
  })

  test('is noticed by a scheduler that sleeps, within seconds', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [job('often', '*/10 * * * * *')] })
    void scheduler.start()
    await clock.advance(1_000)
    await store.schedules.change('often', 'pause')
    await clock.advance(minute)
    expect(store.times('often')).toEqual([startMs, startMs + 10_000])
    await store.schedules.change('often', 'resume')
    await clock.advance(minute)
    await scheduler.stop()
    const resumed = store.times('often').filter((instant) => instant > startMs + minute)
    expect(resumed).toEqual(steps(startMs + 70_000, startMs + 130_000, 10_000))
  })

  test('that was removed from the store comes back where it is still followed', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [job('hourly', '0 * * * *')], nowMs: at('00:10:00') })
    await scheduler.tick()
    await store.schedules.change('hourly', 'remove')
    await scheduler.tick()
    await clock.advance(1_000)
    await scheduler.tick()
    expect((await store.schedules.list()).map(({ nextAt }) => nextAt)).toEqual([at('01:00:00')])
  })
})

describe('a repeat', () => {
  const repeating = (text: string) => job('again', null, { schedule: parseRepeat(text) })

  test('runs first when it is first seen, whoever sees it first', async () => {
    const first = schedulerWorld({ definitions: [repeating('FINISHED, +1 HOUR')], nowMs: at('00:00:00') + 700 })
    await first.scheduler.tick()
    const { clock, store } = first
    await clock.advance(1_000)
    await schedulerWorld({ definitions: [repeating('FINISHED, +1 HOUR')], clock, store }).scheduler.tick()
    expect(store.times('again')).toEqual([at('00:00:00')])
  })

  test.each([
    ['FINISHED, +1 HOUR', at('01:45:00')],
    ['STARTED, +1 HOUR', at('01:15:00')],
    ['SCHEDULED, +1 HOUR', at('01:00:00')],
  ])('R12: %s goes on from its base when its run has ended', async (text, next) => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [repeating(text)], nowMs: at('00:00:00') })
    await scheduler.tick()
    await clock.advance(15 * minute)
    const { leases } = await store.backend.lease(everything)
    await clock.advance(30 * minute)
    await scheduler.tick()
    expect(store.times('again')).toEqual([at('00:00:00')])
    const settlement = { token: leases[0]?.token ?? '', kind: 'done', result: null, keep: false } as const
    expect(await store.backend.settle([settlement])).toEqual(['applied'])
    expect(await scheduler.tick()).toMatchObject({ enqueued: 1, nextAt: next })
    expect(store.times('again')).toEqual([at('00:00:00'), next])
  })

  test('R15: SCHEDULED catches up back to back', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [repeating('SCHEDULED, +1 HOUR')], nowMs: startMs })
    for (let run = 0; run < 4; run++) {
      await scheduler.tick()
      if (run === 0) await clock.advance(150 * minute)
      const { leases } = await store.backend.lease(everything)
      for (const { token } of leases) await store.backend.settle([{ token, kind: 'done', result: null, keep: false }])
    }
    expect(store.times('again')).toEqual(steps(startMs, startMs + 3 * hour, hour))
  })

  test('goes on after a run that died, was cancelled or skipped', async () => {
    const { scheduler, store } = schedulerWorld({ definitions: [repeating('FINISHED, +1 HOUR')], nowMs: startMs })
    await scheduler.tick()
    const [waiting] = store.stored
    await store.backend.store.cancel(waiting?.envelope.id ?? '')
    await scheduler.tick()
    expect(store.times('again')).toEqual([startMs, startMs + hour])
  })

  test('moves on though its next run was cancelled before its time', async () => {
    const { scheduler, store, clock } = schedulerWorld({ definitions: [repeating('FINISHED, +1 MINUTE')], nowMs: startMs })
    for (let cancelled = 0; cancelled < 2; cancelled++) {
      await scheduler.tick()
      await store.backend.store.cancel(store.stored.at(-1)?.envelope.id ?? '')
    }
    await clock.advance(minute)
    await scheduler.tick()
    expect(store.times('again')).toEqual([startMs, startMs + minute, startMs + minute + 1_000])
  })

  test('that was paused does not make up for its pause', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [repeating('SCHEDULED, +10 MINUTES')], nowMs: startMs })
    await scheduler.tick()
    await store.backend.store.cancel(store.stored[0]?.envelope.id ?? '')
    await store.schedules.change('again', 'pause')
    await clock.advance(5 * hour + 3 * minute)
    await store.schedules.change('again', 'resume')
    await scheduler.tick()
    expect(store.times('again')).toEqual([startMs, startMs + 5 * hour + 10 * minute])
  })

  test('rests for the whole of its time, not a part of a second less', async () => {
    const { scheduler, clock, store } = schedulerWorld({ definitions: [repeating('FINISHED, +1 SECOND')], nowMs: startMs })
    await scheduler.tick()
    await clock.advance(889)
    await store.backend.store.cancel(store.stored[0]?.envelope.id ?? '')
    await scheduler.tick()
    expect(store.times('again')).toEqual([startMs, startMs + 2_000])
  })

  test('stores what follows once, however many schedulers see the end', async () => {
    const definitions = [repeating('FINISHED, +1 HOUR')]
    const { scheduler, clock, store } = schedulerWorld({ definitions, nowMs: startMs })
    await scheduler.tick()
    await store.backend.store.cancel(store.stored[0]?.envelope.id ?? '')
    const others = Array.from({ length: 5 }, () => schedulerWorld({ definitions, clock, store }).scheduler)
    await Promise.all(others.map((other) => other.tick()))
    expect(store.times('again')).toEqual([startMs, startMs + hour])
  })
})

const everything = {
  jobs: [{ job: 'again', concurrency: null }],
  queues: null,
  limit: 10,
  leaseMs: 10 * hour,
  owner: 'w',
  maxRescues: 3,
}
