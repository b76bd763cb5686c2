import { describe, expect, it } from 'vitest'
import { nextTokenAt, type RateLog, tokensLeft, withTaken } from '../../src/queue/rules/limits/rate-window.ts'
import { seededRandom } from '../../src/testing/manual-clock.ts'

/** Every claim by itself: what a rate must answer, at any size. */
class EveryClaim {
  readonly #claims: number[] = []

  take(now: number, count: number): void {
    for (let taken = 0; taken < count; taken++) this.#claims.push(now)
  }

  within(perMs: number, now: number): number {
    return this.#claims.filter((at) => at > now - perMs).length
  }
}

/** Takes what it may, at random times, and tells of each step. */
function program(limit: number, perMs: number, seed: number, watch: (log: RateLog, all: EveryClaim, now: number) => void): void {
  const random = seededRandom(seed)
  const all = new EveryClaim()
  const rate = { limit, perMs }
  let log: RateLog = []
  let now = 1_000_000
  for (let step = 0; step < 400; step++) {
    watch(log, all, now)
    const wanted = Math.ceil(random() * limit * 0.2)
    const count = Math.max(0, Math.min(wanted, tokensLeft(log, rate, now)))
    log = withTaken(log, rate, now, count)
    all.take(now, count)
    now += Math.floor(random() * perMs * 0.1)
  }
}

describe('a rate', () => {
  it.each([1, 2, 5, 40, 64])('of %i is exact: what it leaves is what every claim by itself leaves', (limit) => {
    program(limit, 1_000, limit, (log, all, now) => {
      expect(tokensLeft(log, { limit, perMs: 1_000 }, now)).toBe(limit - all.within(1_000, now))
    })
  })

  it.each([65, 500, 5_000])('of %i is never too generous, and too strict by a sixtieth of its window at most', (limit) => {
    program(limit, 6_000, limit, (log, all, now) => {
      const left = tokensLeft(log, { limit, perMs: 6_000 }, now)
      expect(left).toBeLessThanOrEqual(limit - all.within(6_000, now))
      expect(left).toBeGreaterThanOrEqual(limit - all.within(6_100, now))
    })
  })

  it('keeps a short log, however many pass and however often', () => {
    program(20_000, 1_000, 7, (log) => expect(log.length).toBeLessThanOrEqual(64))
  })

  it.each([1, 3, 64, 300])('of %i tells the first instant at which another one may pass', (limit) => {
    const rate = { limit, perMs: 1_000 }
    program(limit, 1_000, limit + 1, (log, _, now) => {
      const at = nextTokenAt(log, rate, now)
      expect(at).toBeGreaterThanOrEqual(now)
      expect(tokensLeft(log, rate, at)).toBeGreaterThan(0)
      if (at > now) expect(tokensLeft(log, rate, at - 1)).toBeLessThanOrEqual(0)
    })
  })

  it('lets the next ones through when the window has passed, and not a millisecond before', () => {
    const rate = { limit: 2, perMs: 1_000 }
    const log = withTaken([], rate, 5_000, 2)
    expect([tokensLeft(log, rate, 5_999), tokensLeft(log, rate, 6_000)]).toEqual([0, 2])
    expect(nextTokenAt(log, rate, 5_500)).toBe(6_000)
  })

  it('counts what a process with a clock that is ahead has taken', () => {
    const rate = { limit: 2, perMs: 1_000 }
    const log = withTaken(withTaken([], rate, 9_000, 1), rate, 8_000, 1)
    expect(tokensLeft(log, rate, 8_000)).toBe(0)
    expect(nextTokenAt(log, rate, 8_000)).toBe(10_000)
  })

  it('that was lowered waits until so many have left the window that another one fits', () => {
    const log = withTaken(withTaken([], { limit: 9, perMs: 1_000 }, 1_000, 5), { limit: 9, perMs: 1_000 }, 1_400, 4)
    expect(tokensLeft(log, { limit: 4, perMs: 1_000 }, 1_500)).toBe(-5)
    expect(nextTokenAt(log, { limit: 4, perMs: 1_000 }, 1_500)).toBe(2_400)
  })
})
