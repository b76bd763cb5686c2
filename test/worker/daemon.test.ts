import { describe, expect, test } from 'vitest'
import { tickPace } from '../../src/worker/scheduler/pace.ts'
import type { Tick } from '../../src/worker/scheduler/scheduler.ts'
import { at, day, hour, job, minute, schedulerWorld, startMs, steps } from './scheduler-world.ts'

/** A scheduler on the beat of a minute, with what it says of its ticks. */
function daemon(cron = '* * * * *', nowMs = startMs + 12_345, more: object = {}) {
  const ticks: Tick[] = []
  const built = schedulerWorld({
    definitions: [job('minutely', cron)],
    nowMs,
    pace: tickPace(minute),
    onTick: (tick) => ticks.push(tick),
    ...more,
  })
  return { ...built, ticks }
}

describe('Y17: a scheduler on a beat', () => {
  test('drifts 0 ms in 24 hours, though every tick takes its time', async () => {
    const { scheduler, store, clock, ticks } = daemon()
    store.beforeEnqueue = () => new Promise<void>((resolve) => void clock.timer(1_137, resolve))
    void scheduler.start()
    await clock.advance(day)
    await scheduler.stop()
    const [first, ...others] = ticks
    expect(first?.startedAt).toBe(startMs + 12_345)
    expect(others.map(({ startedAt }) => startedAt)).toEqual(steps(startMs + minute, startMs + day, minute))
    expect(others.every(({ plannedAt, startedAt }) => plannedAt === startedAt)).toBe(true)
    expect(scheduler.summary).toMatchObject({ ticks: 1_441, overruns: 0, missedTicks: 0, clockJumps: 0, latestMs: 0 })
  })

  test('X30: never sleeps past a tick in 250 of them', async () => {
    const { scheduler, clock, ticks } = daemon()
    void scheduler.start()
    await clock.advance(250 * minute)
    await scheduler.stop()
    const gaps = ticks.slice(1).map(({ startedAt }, index) => startedAt - (ticks[index] as Tick).startedAt)
    expect(gaps.slice(1)).toEqual(gaps.slice(1).map(() => minute))
    expect(gaps).toHaveLength(250)
  })

  test('stores everything up to the next tick, and one more, so that seconds are kept', async () => {
    const { scheduler, store, clock, ticks } = daemon('*/20 * * * * *', startMs)
    void scheduler.start()
    await clock.advance(0)
    expect(store.times('minutely')).toEqual(steps(startMs, startMs + 80_000, 20_000))
    await clock.advance(10 * minute)
    await scheduler.stop()
    expect(store.times('minutely')).toEqual(steps(startMs, startMs + 11 * minute + 20_000, 20_000))
    expect(ticks[1]).toMatchObject({ startedAt: startMs + minute, nextAt: startMs + minute + 20_000 })
  })

  test('counts a tick that takes longer than the beat, and those that it cost', async () => {
    const { scheduler, store, clock, ticks } = daemon('* * * * *', startMs)
    let isSlow = true
    store.beforeEnqueue = () => new Promise<void>((resolve) => void clock.timer(isSlow ? 150_000 : 0, resolve))
    void scheduler.start()
    await clock.advance(150_000)
    isSlow = false
    await clock.advance(3 * minute)
    await scheduler.stop()
    expect(ticks.map(({ startedAt }) => startedAt - startMs)).toEqual([0, 180_000, 240_000, 300_000])
    expect(scheduler.summary).toMatchObject({ ticks: 4, overruns: 1, missedTicks: 2, longestMs: 150_000 })
  })

  test('gives up after so many ticks in a row that took too long, and says why', async () => {
    const { scheduler, store, clock } = daemon('* * * * *', startMs, { maxOverruns: 5 })
    store.beforeEnqueue = () => new Promise<void>((resolve) => void clock.timer(61_000, resolve))
    void scheduler.start()
    const ended = scheduler.ended()
    const refused = expect(ended).rejects.toMatchObject({ code: 'SCHEDULER_OVERRUN', message: /5 ticks in a row/ })
    await clock.advance(hour)
    await refused
    expect(scheduler.summary.overruns).toBe(5)
    expect(clock.nextTimerAt).toBeNull()
  })

  test('a tick that is on time ends the row', async () => {
    const { scheduler, store, clock } = daemon('* * * * *', startMs, { maxOverruns: 2 })
    let calls = 0
    store.beforeEnqueue = () => new Promise<void>((resolve) => void clock.timer(calls++ % 2 === 0 ? 61_000 : 1_000, resolve))
    void scheduler.start()
    await clock.advance(hour)
    const stopped = scheduler.stop()
    await clock.advance(2 * minute)
    await stopped
    await scheduler.ended()
    expect(scheduler.summary.overruns).toBeGreaterThan(5)
  })

  test('a machine that slept for hours goes on at once, and that is no overrun', async () => {
    const { scheduler, store, clock, ticks } = daemon('0 * * * *', startMs)
    void scheduler.start()
    await clock.advance(10_000)
    const now = clock.now.bind(clock)
    clock.now = () => now() + 6 * hour
    await clock.advance(2 * minute)
    await scheduler.stop()
    expect(ticks[1]?.startedAt).toBeLessThanOrEqual(startMs + 6 * hour + 15_000)
    expect(scheduler.summary).toMatchObject({ overruns: 0, clockJumps: 1, missedTicks: 359 })
    // What it slept through is one run, the latest.
    expect(store.times('minutely')).toEqual([startMs, at('01:00:00'), at('06:00:00'), at('07:00:00')])
  })

  test('a clock that is set back by hours does not stop the ticks', async () => {
    const { scheduler, clock, ticks } = daemon('0 * * * *', startMs + 12 * hour)
    void scheduler.start()
    await clock.advance(10_000)
    const now = clock.now.bind(clock)
    clock.now = () => now() - 6 * hour
    await clock.advance(3 * minute)
    await scheduler.stop()
    expect(ticks.slice(1).map(({ startedAt }) => startedAt)).toEqual(
      steps(startMs + 6 * hour + minute, startMs + 6 * hour + 3 * minute, minute),
    )
    expect(scheduler.summary.clockJumps).toBe(1)
  })

  test('what wakes it between two ticks moves none of them', async () => {
    const { scheduler, clock, ticks } = daemon('0 * * * *', startMs)
    void scheduler.start()
    await clock.advance(90_000)
    scheduler.wake()
    await clock.advance(90_000)
    await scheduler.stop()
    expect(ticks.map(({ startedAt }) => startedAt - startMs)).toEqual([0, minute, 2 * minute, 3 * minute])
  })
})
