import type { RepeatSchedule } from '../schedule.ts'
import { modifiersOf } from './repeat.ts'

export interface CatchUpLimits {
  /** Occurrences that are overdue for longer are left out. */
  readonly withinMs: number
  /** Of the others, at most this many, the latest ones. */
  readonly cap: number
}

/**
 * Where a `SCHEDULED` repeat goes on after an outage: the first occurrence from `nextMs` on of which all that follow, if they are
 * overdue, lie within the limits. The other bases count from a run, so they are never more than one occurrence behind.
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

/**
 * The other rule for the same outage, which makes up for nothing: a short, even `SCHEDULED` repeat goes on with its first
 * occurrence after now, in step with the missed ones. Any other gives what follows from `scheduledMs`, past or not.
 */
export function reanchored(repeat: RepeatSchedule, scheduledMs: number, nowMs: number): number {
  const baseMs = Math.floor(scheduledMs / 1_000) * 1_000
  const nextMs = repeat.next(baseMs)
  const intervalMs = nextMs - baseMs
  const isShort = intervalMs > 0 && intervalMs < longIntervalMs
  if (repeat.base !== 'SCHEDULED' || nextMs > nowMs || !isShort || !isSignedOnly(repeat)) return nextMs
  return baseMs + (Math.floor((nowMs - baseMs) / intervalMs) + 1) * intervalMs
}

const longIntervalMs = 4 * 3_600_000

function isSignedOnly(repeat: RepeatSchedule): boolean {
  return modifiersOf(repeat).every(({ text }) => /^[+-]/.test(text))
}

/** The distance of any two occurrences in a row, or null where the calendar decides. */
function fixedIntervalMs(repeat: RepeatSchedule): number | null {
  let sum = 0
  for (const { distanceMs } of modifiersOf(repeat)) {
    if (distanceMs === null) return null
    sum += distanceMs
  }
  return sum
}

// Months, weekdays and starts of days come nowhere near it; who does is counted anew from now.
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
