/** When a scheduler looks again, and how far ahead it stores what falls due in between. */
export interface Pace {
  readonly horizonMs: number
  /** The longest time between two passes that is as it should be. */
  readonly intervalMs: number
  wakeAt(now: number, nextAt: number | null): number
}

// Short, so that a machine that slept or whose clock was set finds its place soon.
export const longestSleepMs = 30_000

/** From occurrence to occurrence. */
export const occurrencePace: Pace = {
  horizonMs: 0,
  intervalMs: longestSleepMs,
  // From the occurrence's own instant and not from the last wake-up: what a pass takes does not add up.
  wakeAt: (now, nextAt) => Math.min(nextAt ?? Number.POSITIVE_INFINITY, now + longestSleepMs),
}

/** On the multiples of an interval, whatever happened since the last one: there is no count of ticks that could go wrong. */
export function tickPace(intervalMs: number): Pace {
  return {
    horizonMs: intervalMs,
    intervalMs,
    wakeAt: (now) => (Math.floor(now / intervalMs) + 1) * intervalMs,
  }
}
