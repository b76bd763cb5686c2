import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pause, systemClock } from '../../src/core/time/clock.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

const day = 86_400_000

describe('a timer of the system clock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('fires once, after its delay', () => {
    let fired = 0
    systemClock.timer(1_000, () => fired++)
    vi.advanceTimersByTime(999)
    expect(fired).toBe(0)
    vi.advanceTimersByTime(5_000)
    expect(fired).toBe(1)
  })

  it('waits longer than a Node timer can, which is 24 days', () => {
    let fired = 0
    systemClock.timer(60 * day, () => fired++)
    vi.advanceTimersByTime(60 * day - 1)
    expect(fired).toBe(0)
    vi.advanceTimersByTime(1)
    expect(fired).toBe(1)
  })

  it('can be cancelled, also after a part of a long delay', () => {
    let fired = 0
    const timer = systemClock.timer(60 * day, () => fired++)
    vi.advanceTimersByTime(30 * day)
    timer.cancel()
    vi.advanceTimersByTime(60 * day)
    expect(fired).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a pause', () => {
  it('ends after its time', async () => {
    const clock = new ManualClock()
    let ended = false
    const paused = pause(clock, 1_000).then(() => {
      ended = true
    })
    await clock.advance(999)
    expect(ended).toBe(false)
    await clock.advance(1)
    await paused
  })

  it('ends at once when the signal aborts, and leaves no timer behind', async () => {
    const clock = new ManualClock()
    const stop = new AbortController()
    const paused = pause(clock, 1_000, stop.signal)
    stop.abort()
    await paused
    expect(clock.nextTimerAt).toBeNull()
    await pause(clock, 1_000, stop.signal)
  })
})
