import type { WallTimes } from './calendar.ts'
import { offsetChange, type Zone } from './zone.ts'

/**
 * The first occurrence after an instant where each wall time counts once: one that the clock skips falls on the first instant
 * after the gap, one that it shows twice falls on its first showing.
 */
export function nextFixedTime(times: WallTimes, zone: Zone, afterMs: number): number | null {
  const wall = times(passedWallTime(zone, afterMs))
  return wall === null ? null : instantOf(zone, wall)
}

/** The first occurrence after an instant where time is what elapses: every instant whose wall time is named counts. */
export function nextElapsedTime(times: WallTimes, zone: Zone, afterMs: number): number | null {
  let fromMs = Math.floor(afterMs / 1_000) * 1_000 + 1_000
  for (;;) {
    const offset = zone(fromMs)
    const wall = times(fromMs + offset - 1)
    if (wall === null) return null
    const candidate = wall - offset
    const sight = Math.min(candidate, fromMs + largestChangeMs)
    if (zone(sight) !== offset) fromMs = offsetChange(zone, fromMs, sight)
    else if (sight === candidate) return candidate
    // No wall time is named between here and there, and no change of the clock reaches back further than this.
    else fromMs = candidate - largestChangeMs
  }
}

// The largest change of any zone is the day that Samoa left out in 2011.
const largestChangeMs = 24 * 3_600_000

/** The latest wall time whose occurrence does not lie after the instant. */
function passedWallTime(zone: Zone, instantMs: number): number {
  const wall = instantMs + zone(instantMs)
  const firstShowing = instantOf(zone, wall)
  if (firstShowing === instantMs) return wall
  const change = offsetChange(zone, firstShowing, instantMs)
  return change - 1 + zone(firstShowing)
}

function instantOf(zone: Zone, wall: number): number {
  const offsetBefore = zone(wall - largestChangeMs)
  const offsetAfter = zone(wall + largestChangeMs)
  const showings = [wall - offsetBefore, wall - offsetAfter]
  const shown = showings.find((instantMs) => instantMs + zone(instantMs) === wall)
  return shown ?? offsetChange(zone, wall - offsetAfter, wall - offsetBefore)
}
