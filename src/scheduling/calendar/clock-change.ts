import type { WallTimes } from './calendar.ts'
import type { Zone } from './zone.ts'

/** The instants at which a schedule runs; null if there is none. */
export interface Occurrences {
  /** The first occurrence after the given instant. */
  next(afterMs: number): number | null
  /** The last occurrence before the given instant. */
  previous(beforeMs: number): number | null
}

/**
 * Each wall time counts once: a skipped time falls on the first instant after the gap, and a repeated time falls on its first
 * showing. Both are the first instant at which the clock shows this time or a later one.
 */
export function fixedTimes(times: WallTimes, zone: Zone): Occurrences {
  return {
    next(afterMs) {
      const wall = times.next(latestShown(zone, afterMs))
      return wall === null ? null : firstShowing(zone, wall)
    },
    previous(beforeMs) {
      const wall = times.previous(latestShown(zone, lastSecondBefore(beforeMs)) + 1)
      return wall === null ? null : firstShowing(zone, wall)
    },
  }
}

/** Follows elapsed time: every instant whose wall time matches counts. */
export function elapsedTimes(times: WallTimes, zone: Zone): Occurrences {
  return {
    next(afterMs) {
      let from = Math.floor(afterMs / 1_000) * 1_000 + 1_000
      for (;;) {
        const { to, offset } = zone.spanAt(from)
        const wall = times.next(from + offset - 1)
        if (wall !== null && wall - offset < to) return wall - offset
        // A clock change may repeat earlier times, but none further back than this.
        if (to - from <= largestChangeMs) from = to
        else if (wall === null) return null
        else from = Math.max(to, wall - offset - largestChangeMs)
      }
    },
    previous(beforeMs) {
      let last = lastSecondBefore(beforeMs)
      for (;;) {
        const { from, offset } = zone.spanAt(last)
        const wall = times.previous(last + offset + 1)
        if (wall !== null && wall - offset >= from) return wall - offset
        if (last - from < largestChangeMs) last = from - 1_000
        else if (wall === null) return null
        else last = Math.min(from - 1_000, wall - offset + largestChangeMs)
      }
    },
  }
}

// No time zone is a whole day off UTC, so no two offsets are two days apart.
const largestOffsetMs = 24 * 3_600_000
const largestChangeMs = 2 * largestOffsetMs

function lastSecondBefore(instantMs: number): number {
  return Math.ceil(instantMs / 1_000) * 1_000 - 1_000
}

/**
 * The latest time that the clock has shown up to an instant. If the clock was set back, this is later than the time at the
 * instant itself.
 */
function latestShown(zone: Zone, instantMs: number): number {
  let span = zone.spanAt(instantMs)
  let latest = instantMs + span.offset
  while (span.from > instantMs - largestOffsetMs) {
    span = zone.spanAt(span.from - 1)
    latest = Math.max(latest, span.to - 1 + span.offset)
  }
  return latest
}

/** The first instant at which the clock shows this time or a later one. */
function firstShowing(zone: Zone, wall: number): number {
  let span = zone.spanAt(wall - largestOffsetMs)
  while (wall - span.offset >= span.to) span = zone.spanAt(span.to)
  return Math.max(span.from, wall - span.offset)
}
