import type { Clock, Timer } from '../core/time/clock.ts'

/** 2026-01-01T00:00:00Z: far enough from zero to expose code that treats 0 as "never". */
export const defaultStartMs = Date.UTC(2026, 0, 1)

/** A clock that stands still until it is moved by hand. */
export class ManualClock implements Clock {
  #nowMs: number
  #random: () => number = () => 0.5
  // Insertion order is creation order, which breaks ties between timers due at the same instant.
  readonly #timers = new Set<Pending>()

  constructor(startMs: number = defaultStartMs) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  random(): number {
    return this.#random()
  }

  timer(delayMs: number, run: () => void): Timer {
    const pending = { dueAt: this.#nowMs + Math.max(delayMs, 0), run }
    this.#timers.add(pending)
    return { cancel: () => void this.#timers.delete(pending) }
  }

  /** Sets the source of randomness; until then it is always 0.5. */
  setRandom(source: () => number): void {
    this.#random = source
  }

  /** When the next timer is due, or null if there is none. */
  get nextTimerAt(): number | null {
    return this.#next()?.dueAt ?? null
  }

  /**
   * Moves time forward. Timers on the way fire in order, each at its own instant, and the work they start gets turns of the event
   * loop before the next one fires. Never waits for real time.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#nowMs + ms
    await settled()
    for (let next = this.#next(); next !== undefined && next.dueAt <= target; next = this.#next()) {
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.dueAt)
      next.run()
      await settled()
    }
    this.#nowMs = Math.max(this.#nowMs, target)
    await settled()
  }

  #next(): Pending | undefined {
    let earliest: Pending | undefined
    for (const pending of this.#timers) if (earliest === undefined || pending.dueAt < earliest.dueAt) earliest = pending
    return earliest
  }
}

/** A repeatable source of randomness (mulberry32), uniform in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

interface Pending {
  readonly dueAt: number
  readonly run: () => void
}

const turnsToSettle = 4

async function settled(): Promise<void> {
  for (let turn = 0; turn < turnsToSettle; turn++) await new Promise((resolve) => setImmediate(resolve))
}
