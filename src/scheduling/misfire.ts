import { TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { shown } from '../core/text/shown.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import { catchUp } from './repeating/catch-up.ts'
import type { CalendarSchedule, RepeatSchedule, Schedule } from './schedule.ts'

/** What happens to occurrences that fell due while no scheduler was running. */
export type MisfirePolicy =
  /** Skips them, except that the latest one still runs if it is at most this late. */
  | { readonly kind: 'skip'; readonly withinMs: number }
  /** Makes up for the latest one, if it is at most this late (null: however late), and skips the others. */
  | { readonly kind: 'latest'; readonly withinMs: number | null }
  /** Makes up for each of them, up to this far back and at most this many. */
  | { readonly kind: 'all'; readonly withinMs: number; readonly cap: number }

export type MisfireKind = MisfirePolicy['kind']

export interface MisfireOptions {
  /** Maximum delay after which a missed run is still caught up. */
  readonly within?: Duration
  /** With `all`: maximum number of runs to make up for; the latest ones are kept. */
  readonly cap?: number
}

const latest: MisfirePolicy = Object.freeze({ kind: 'latest', withinMs: null })

/** The default policy: a repeat catches up run by run; for a calendar schedule one run makes up for all missed ones. */
export function defaultMisfire({ kind }: Schedule): MisfirePolicy {
  return kind === 'repeat' ? misfirePolicy('all') : latest
}

/** Occurrences are stored a little longer than this, so one that has already run is never mistaken for a missed one. */
export const longestMisfireMs = 7 * 86_400_000

const defaultWithinMs = { skip: 60_000, latest: null, all: 86_400_000 } as const
export const misfireKinds = Object.keys(defaultWithinMs) as readonly MisfireKind[]
const defaultCap = 100
const highestCap = 10_000

export function misfirePolicy(kind: MisfireKind, options: MisfireOptions = {}): MisfirePolicy {
  if (typeof kind !== 'string' || !Object.hasOwn(defaultWithinMs, kind))
    throw invalid(`it is 'skip', 'latest' or 'all', got ${shown(kind)}`)
  const problems = unknownOptions(options, ['within', 'cap'])
  if (problems.length > 0) throw invalid(problems.join('; '))
  const withinMs = options.within === undefined ? defaultWithinMs[kind] : parseDuration(options.within, 'misfire within')
  if (withinMs !== null && (withinMs <= 0 || withinMs > longestMisfireMs))
    throw invalid(`within is from 1ms to 7d, the time for which occurrences are remembered, got ${withinMs} ms`)
  const { cap = defaultCap } = options
  if (!Number.isInteger(cap) || cap < 1 || cap > highestCap)
    throw invalid(`cap is a whole number from 1 to ${highestCap}, got ${shown(cap)}`)
  if (kind !== 'all' && options.cap !== undefined) throw invalid(`cap has a meaning with 'all' only`)
  if (kind === 'all') return Object.freeze({ kind, withinMs: withinMs as number, cap })
  return Object.freeze({ kind, withinMs } as MisfirePolicy)
}

/** Occurrences before this instant that no scheduler saw fall due are too old for the policy. */
export function missedBefore(schedule: CalendarSchedule, policy: MisfirePolicy, now: number): number {
  const tooLate = policy.withinMs === null ? Number.NEGATIVE_INFINITY : now - policy.withinMs
  const latest = policy.kind === 'all' ? null : schedule.previous(now + 1)
  return latest === null ? tooLate : Math.max(tooLate, latest)
}

export function isMissed(schedule: CalendarSchedule, policy: MisfirePolicy, at: number, now: number): boolean {
  return at < missedBefore(schedule, policy, now)
}

/** The occurrences after `seenUntil` and up to now that must be caught up, oldest first. */
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

/** The limits that a policy sets on how far a late repeat catches up. */
export function catchUpLimits(policy: MisfirePolicy): { readonly withinMs: number; readonly cap: number } {
  return { withinMs: policy.withinMs ?? longestMisfireMs, cap: policy.kind === 'all' ? policy.cap : 1 }
}

/** Whether a stored run of a repeat is past its policy: too late, or further behind than the policy makes up for. */
export function isMissedRepeat(schedule: RepeatSchedule, policy: MisfirePolicy, at: number, now: number): boolean {
  const { withinMs } = policy
  return (withinMs !== null && now - at > withinMs) || catchUp(schedule, at, now, catchUpLimits(policy)) > at
}

function invalid(why: string): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', `misfire(): ${why}`)
}
