import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { largestSettle, UnsettledLimit } from '../../src/worker/runs/unsettled-limit.ts'
import { overlaid } from '../testing/broken-backend.ts'
import { gate, until, worldOn } from '../world.ts'

describe('jobs that have ended without its being written', () => {
  it.each([1, 4])('are few: with %d at once, no more than three times as many and those that run', async (concurrency) => {
    const clock = new ManualClock()
    const sound = openMemory({ clock })
    const answer = gate()
    let settling = 0
    const slow = overlaid<WholeBackend>(sound, {
      async settle(settlements) {
        settling++
        await answer.opened
        return sound.settle(settlements)
      },
    })
    const { jobs } = worldOn(slow, clock)
    let ended = 0
    // Longer than a moment by any clock, so that they are no short jobs.
    const job = jobs.define('job', async () => {
      const start = performance.now()
      while (performance.now() - start < 2);
      ended++
    })
    await job.dispatchMany(Array.from({ length: 60 }, () => 1))
    const running = jobs.run({ concurrency, scheduler: false })
    // A busy machine may not claim ahead: how many end is not known, only that it is no more than this.
    await until(() => settling > 0 && ended >= concurrency)
    await clock.advance(1_000)
    expect(ended).toBeLessThanOrEqual(4 * concurrency)
    answer.open()
    expect(await running).toMatchObject({ succeeded: 60 })
  })

  it('may be more where most jobs take next to no time', () => {
    const limit = new UnsettledLimit(10)
    expect(roomOf(limit, 5)).toBe(30)
    for (let job = 0; job < 100; job++) passed(limit, 0.01)
    expect(roomOf(limit, 0.01)).toBe(300)
    for (let job = 0; job < 100; job++) passed(limit, 5)
    expect(roomOf(limit, 5)).toBe(30)
    expect(roomOf(new UnsettledLimit(200), 5)).toBe(600)
  })

  it.each([10, 400])('are written in halves, so that others end meanwhile: with %d at once', async (concurrency) => {
    const clock = new ManualClock()
    const sound = openMemory({ clock })
    const sizes: number[] = []
    const counting = overlaid<WholeBackend>(sound, {
      settle(settlements) {
        sizes.push(settlements.length)
        return sound.settle(settlements)
      },
    })
    const { jobs } = worldOn(counting, clock)
    const job = jobs.define('job', async () => {})
    await job.dispatchMany(Array.from({ length: 2_000 }, () => 1))
    expect(await jobs.run({ concurrency, scheduler: false })).toMatchObject({ succeeded: 2_000 })
    expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.max(300, 3 * concurrency) / 2)
    expect(largestSettle(concurrency)).toBe(Math.max(300, 3 * concurrency) / 2)
  })

  it('make room when the first of too many is written', () => {
    const limit = new UnsettledLimit(1)
    for (let job = 0; job < 3; job++) limit.ended(5)
    expect(limit.hasRoom).toBe(false)
    expect(limit.settled()).toBe(true)
    expect(limit.hasRoom).toBe(true)
    expect(limit.settled()).toBe(false)
  })
})

function passed(limit: UnsettledLimit, durationMs: number): void {
  limit.ended(durationMs)
  limit.settled()
}

function roomOf(limit: UnsettledLimit, durationMs: number): number {
  let ended = 0
  for (; limit.hasRoom; ended++) limit.ended(durationMs)
  for (let job = 0; job < ended; job++) limit.settled()
  return ended
}
