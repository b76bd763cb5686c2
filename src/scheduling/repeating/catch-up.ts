import type { RepeatSchedule } from '../schedule.ts'
import { modifiersOf } from './repeat.ts'

export interface CatchUpLimits {
  /** Occurrences overdue for longer than this are skipped. */
  readonly withinMs: number
  /** Maximum number of the remaining ones; the latest are kept. */
  readonly cap: number
}

/**
 * Where a `SCHEDULED` repeat resumes after an outage: the first occurrence from `nextMs` on such that it and all later overdue
 * ones are within the limits. The other bases count from an actual run, so they are never more than one occurrence behind.
 */
export function catchUp(repeat: RepeatSchedule, nextMs: number, nowMs: number, limits: CatchUpLimits): number {
  if (repeat.base !== 'SCHEDULED' || nextMs > nowMs) return nextMs
  const intervalMs = fixedIntervalMs(repeat)
  if (intervalMs === null) return catchUpStepwise(repeat, nextMs, nowMs, limits)
  if (intervalMs <= 0) return nextMs
  const overdue = Math.floor((nowMs - nextMs) / intervalMs) + 1
  const tooOld = Math.ceil((nowMs - limits.withinMs - nextMs) / intervalMs)
  const leftOut = Math.max(0, tooOld, overdue - limits.cap)
  return nextMs + leftOut * intervalMs
}

/** The interval between consecutive occurrences, or null if it depends on the calendar. */
function fixedIntervalMs(repeat: RepeatSchedule): number | null {
  let sum = 0
  for (const { distanceMs } of modifiersOf(repeat)) {
    if (distanceMs === null) return null
    sum += distanceMs
  }
  return sum
}

// Far more than months, weekdays and starts of days need; beyond it, counting restarts from now.
const maxSteps = 10_000

function catchUpStepwise(repeat: RepeatSchedule, nextMs: number, nowMs: number, { withinMs, cap }: CatchUpLimits): number {
  const kept: number[] = []
  let at = nextMs
  for (let step = 0; at <= nowMs; step++) {
    if (step === maxSteps) return repeat.next(nowMs)
    if (at >= nowMs - withinMs) kept.push(at)
    if (kept.length > cap) kept.shift()
    const following = repeat.next(at)
    if (following <= at) return nextMs
    at = following
  }
  return kept[0] ?? at
}
