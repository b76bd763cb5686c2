import { describe, expect, test } from 'vitest'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { SchedulerLock } from '../../src/worker/scheduler/scheduler-lock.ts'
import { gate, loggerInto } from '../world.ts'
import { hour, job, minute, type NotedSchedules, notedSchedules, schedulerWorld, startMs } from './scheduler-world.ts'

const definitions = [job('minutely', '* * * * *')]

function shared() {
  const clock = new ManualClock(startMs)
  return { clock, store: notedSchedules(clock) }
}

function single({ clock, store }: { clock: ManualClock; store: NotedSchedules }, pid: number) {
  const lock = new SchedulerLock(store.backend.coordination, { owner: `web-${pid}`, host: 'web', pid }, minute, clock)
  const log: string[] = []
  return { ...schedulerWorld({ definitions, clock, store, lock, logger: loggerInto(log) }), log }
}

describe('Y2: a scheduler with a lock', () => {
  test('is the only one: another is refused with who has it, where, and until when', async () => {
    const both = shared()
    await single(both, 1).scheduler.tick()
    await expect(single(both, 2).scheduler.tick()).rejects.toMatchObject({
      code: 'SCHEDULER_LOCKED',
      message: expect.stringMatching(/process 1 on web, since 2026-01-01T00:00:00.000Z; it expires at 2026-01-01T00:01:00.000Z/),
    })
  })

  test('X31: never blocks itself, however often it ticks', async () => {
    const both = shared()
    const { scheduler } = single(both, 1)
    for (let tick = 0; tick < 5; tick++) {
      await scheduler.tick()
      await both.clock.advance(10_000)
    }
  })

  test('keeps it while it lives, though one time of it would be over', async () => {
    const both = shared()
    const holder = single(both, 1)
    const waiting = single(both, 2)
    void holder.scheduler.start()
    await both.clock.advance(0)
    void waiting.scheduler.start()
    await both.clock.advance(hour)
    expect(waiting.scheduler.summary.ticks).toBe(0)
    expect(waiting.log.filter((line) => line.includes('waiting for it'))).toHaveLength(1)
    await Promise.all([holder.scheduler.stop(), waiting.scheduler.stop()])
  })

  test('that dies is followed by another when its lock is over, and nothing is lost', async () => {
    const both = shared()
    await single(both, 1).scheduler.tick()
    const heir = single(both, 2)
    void heir.scheduler.start()
    await both.clock.advance(10 * minute)
    await heir.scheduler.stop()
    expect(heir.log).toContain('info this scheduler has the lock now')
    expect(both.store.times('minutely').at(-1)).toBe(startMs + 11 * minute)
  })

  test('that stops gives it back at once', async () => {
    const both = shared()
    const first = single(both, 1)
    await first.scheduler.tick()
    await first.scheduler.stop()
    await single(both, 2).scheduler.tick()
  })

  test('Y3: gives back only what is its own', async () => {
    const both = shared()
    const late = single(both, 1)
    await late.scheduler.tick()
    await both.clock.advance(2 * minute)
    await single(both, 2).scheduler.tick()
    await late.scheduler.stop()
    await expect(single(both, 3).scheduler.tick()).rejects.toMatchObject({ message: expect.stringContaining('process 2') })
  })

  test('keeps it during a pass that takes longer than its time', async () => {
    const both = shared()
    const holder = single(both, 1)
    const { enqueue } = both.store.backend.store.schedules
    const begun = gate()
    const going = gate()
    Object.assign(both.store.backend.store.schedules, {
      enqueue: async (...args: Parameters<typeof enqueue>) => {
        begun.open()
        await going.opened
        return enqueue.apply(both.store.backend.store.schedules, args)
      },
    })
    const tick = holder.scheduler.tick()
    await begun.opened
    await both.clock.advance(5 * minute)
    await expect(single(both, 2).scheduler.tick()).rejects.toMatchObject({ code: 'SCHEDULER_LOCKED' })
    going.open()
    expect(await tick).toMatchObject({ enqueued: 2 })
  })

  test('that was lost while it stood still keeps it from storing anything', async () => {
    const both = shared()
    const lock = new SchedulerLock(both.store.backend.coordination, { owner: 'late', host: 'web', pid: 9 }, minute, both.clock)
    expect(await lock.take()).toBeNull()
    await both.clock.advance(2 * minute)
    await single(both, 2).scheduler.tick()
    await expect(lock.refuseLost()).rejects.toMatchObject({ code: 'SCHEDULER_LOCKED' })
  })
})
