import { describe, expect, it } from 'vitest'
import { pause } from '../../src/core/time/clock.ts'
import { ManualClock, seededRandom } from '../../src/testing/manual-clock.ts'

describe('the manual clock', () => {
  it('stands still until it is moved', async () => {
    const clock = new ManualClock(1_000)
    expect(clock.now()).toBe(1_000)
    await clock.advance(250)
    expect(clock.now()).toBe(1_250)
  })

  it('fires timers in the order of their due times, each at its own instant', async () => {
    const clock = new ManualClock(0)
    const fired: string[] = []
    clock.timer(30, () => fired.push(`late at ${clock.now()}`))
    clock.timer(10, () => fired.push(`early at ${clock.now()}`))
    clock.timer(10, () => fired.push(`second early at ${clock.now()}`))
    await clock.advance(30)
    expect(fired).toEqual(['early at 10', 'second early at 10', 'late at 30'])
  })

  it('leaves later timers for a later move and never fires a cancelled one', async () => {
    const clock = new ManualClock(0)
    let fired = 0
    clock.timer(10, () => fired++).cancel()
    clock.timer(11, () => fired++)
    await clock.advance(10)
    expect(fired).toBe(0)
    expect(clock.nextTimerAt).toBe(11)
    await clock.advance(1)
    expect(fired).toBe(1)
    expect(clock.nextTimerAt).toBeNull()
  })

  it('lets a loop of pauses run as often as fits into the move', async () => {
    const clock = new ManualClock(0)
    const stop = new AbortController()
    const seen: number[] = []
    const loop = (async () => {
      while (!stop.signal.aborted) {
        seen.push(clock.now())
        await pause(clock, 100, stop.signal)
      }
    })()
    await clock.advance(350)
    expect(seen).toEqual([0, 100, 200, 300])
    stop.abort()
    await loop
  })

  it('takes chance from a source that repeats', () => {
    const clock = new ManualClock()
    expect(clock.random()).toBe(0.5)
    clock.setRandom(seededRandom(7))
    const drawn = [clock.random(), clock.random(), clock.random()]
    const again = seededRandom(7)
    expect(drawn).toEqual([again(), again(), again()])
    expect(new Set(drawn).size).toBe(3)
    expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true)
  })
})
