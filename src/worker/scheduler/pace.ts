/** When a scheduler wakes up, and how far ahead it stores occurrences. */
export interface Pace {
  readonly horizonMs: number
  /** Maximum expected time between two passes. */
  readonly intervalMs: number
  wakeAt(now: number, nextAt: number | null): number
}

// Short, so that the scheduler recovers quickly after the machine slept or the clock was set.
export const longestSleepMs = 30_000

/** Wakes up for each occurrence. */
export const occurrencePace: Pace = {
  horizonMs: 0,
  intervalMs: longestSleepMs,
  // Based on the time of the occurrence rather than the last wake-up, so that the duration of passes does not add up.
  wakeAt: (now, nextAt) => Math.min(nextAt ?? Number.POSITIVE_INFINITY, now + longestSleepMs),
}

/** Wakes up at multiples of the interval, whatever happened since the last one. There is no tick counter that could drift. */
export function tickPace(intervalMs: number): Pace {
  return {
    horizonMs: intervalMs,
    intervalMs,
    wakeAt: (now) => (Math.floor(now / intervalMs) + 1) * intervalMs,
  }
}
