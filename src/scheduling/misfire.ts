import { TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import { catchUp } from './repeating/catch-up.ts'
import type { CalendarSchedule, RepeatSchedule, Schedule } from './schedule.ts'

/** What becomes of occurrences that fell due while no scheduler was there to see them. */
export type MisfirePolicy =
  /** They are left out; only the latest one still runs, if it is at most this late. */
  | { readonly kind: 'skip'; readonly withinMs: number }
  /** The latest one is made up for, however late unless this is said; the others are left out. */
  | { readonly kind: 'latest'; readonly withinMs: number | null }
  /** Each is made up for, as far back as this and at most this many. */
  | { readonly kind: 'all'; readonly withinMs: number; readonly cap: number }

export type MisfireKind = MisfirePolicy['kind']

export interface MisfireOptions {
  /** How late a run may be and still be made up for. */
  readonly within?: Duration
  /** With `all`: at most this many, the latest ones. */
  readonly cap?: number
}

const latest: MisfirePolicy = Object.freeze({ kind: 'latest', withinMs: null })

/** What holds where nothing is said: a repeat catches up, run after run; a calendar's times are worth making up for once. */
export function defaultMisfire({ kind }: Schedule): MisfirePolicy {
  return kind === 'repeat' ? misfirePolicy('all') : latest
}

/** Occurrences are remembered for a little longer than this, so none that has run is taken for a missed one. */
export const longestMisfireMs = 7 * 86_400_000

const defaultWithinMs = { skip: 60_000, latest: null, all: 86_400_000 } as const
const defaultCap = 100
const highestCap = 10_000

export function misfirePolicy(kind: MisfireKind, options: MisfireOptions = {}): MisfirePolicy {
  if (!Object.hasOwn(defaultWithinMs, kind)) throw invalid(`it is 'skip', 'latest' or 'all', got ${JSON.stringify(kind)}`)
  const problems = unknownOptions(options, ['within', 'cap'])
  if (problems.length > 0) throw invalid(problems.join('; '))
  const withinMs = options.within === undefined ? defaultWithinMs[kind] : parseDuration(options.within, 'misfire within')
  if (withinMs !== null && (withinMs <= 0 || withinMs > longestMisfireMs))
    throw invalid(`within is from 1ms to 7d, the time for which occurrences are remembered, got ${withinMs} ms`)
  const { cap = defaultCap } = options
  if (!Number.isInteger(cap) || cap < 1 || cap > highestCap)
    throw invalid(`cap is a whole number from 1 to ${highestCap}, got ${cap}`)
  if (kind !== 'all' && options.cap !== undefined) throw invalid(`cap has a meaning with 'all' only`)
  if (kind === 'all') return Object.freeze({ kind, withinMs: withinMs as number, cap })
  return Object.freeze({ kind, withinMs } as MisfirePolicy)
}

/** Occurrences before this instant that nobody saw fall due are past their policy. */
export function missedBefore(schedule: CalendarSchedule, policy: MisfirePolicy, now: number): number {
  const tooLate = policy.withinMs === null ? Number.NEGATIVE_INFINITY : now - policy.withinMs
  const latest = policy.kind === 'all' ? null : schedule.previous(now + 1)
  return latest === null ? tooLate : Math.max(tooLate, latest)
}

export function isMissed(schedule: CalendarSchedule, policy: MisfirePolicy, at: number, now: number): boolean {
  return at < missedBefore(schedule, policy, now)
}

/** The occurrences after `seenUntil` and up to now that are to be made up for, oldest first. */
export function madeUpFor(schedule: CalendarSchedule, policy: MisfirePolicy, seenUntil: number, now: number): readonly number[] {
  const oldest = Math.max(seenUntil + 1, policy.withinMs === null ? Number.NEGATIVE_INFINITY : now - policy.withinMs)
  const most = policy.kind === 'all' ? policy.cap : 1
  const instants: number[] = []
  let at = schedule.previous(now + 1)
  while (at !== null && at >= oldest && instants.length < most) {
    instants.unshift(at)
    at = schedule.previous(at)
  }
  return instants
}

/** What a policy leaves to be made up for of a repeat that is behind. */
export function catchUpLimits(policy: MisfirePolicy): { readonly withinMs: number; readonly cap: number } {
  return { withinMs: policy.withinMs ?? longestMisfireMs, cap: policy.kind === 'all' ? policy.cap : 1 }
}

/** Whether a run of a repeat that was stored ahead is past its policy: too late, or further behind than may be made up for. */
export function isMissedRepeat(schedule: RepeatSchedule, policy: MisfirePolicy, at: number, now: number): boolean {
  const { withinMs } = policy
  return (withinMs !== null && now - at > withinMs) || catchUp(schedule, at, now, catchUpLimits(policy)) > at
}

function invalid(why: string): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', `misfire(): ${why}`)
}
