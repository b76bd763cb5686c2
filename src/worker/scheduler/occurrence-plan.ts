import type { OccurrenceRecord, ScheduleStanding } from '../../queue/contract/schedule-store.ts'
import { catchUpLimits, isMissed, isMissedRepeat, type MisfirePolicy, madeUpFor, missedBefore } from '../../scheduling/misfire.ts'
import { catchUp } from '../../scheduling/repeating/catch-up.ts'
import type { CalendarSchedule, RepeatSchedule, Schedule } from '../../scheduling/schedule.ts'

/** What a pass will do for one schedule. */
export interface OccurrencePlan {
  readonly occurrences: readonly PlannedOccurrence[]
  /** When the schedule is due next; null if unknown. */
  readonly nextAt: number | null
  /** Occurrences before this time that were stored in advance but have not begun are too late under the misfire policy. */
  readonly skipBefore: number | null
  /** The occurrence that is due and may still begin: from now on it is late rather than missed. Only needed for repeats. */
  readonly due: number | null
  /** Number of occurrences that are left out and were never stored, up to a limit. */
  readonly leftOut: number
  /** The schedule will never be due again. */
  readonly isOver?: true
}

/** Maximum number of left-out occurrences to count. A schedule that runs every second leaves out very many in a week. */
export const mostLeftOut = 1_000

export interface PlannedOccurrence {
  readonly at: number
  readonly why: 'missed' | 'current' | 'next'
  /**
   * Store this occurrence only if this one is the latest; null means only if there is none. Absent if the instant alone is
   * enough.
   */
  readonly follows?: number | null
}

export interface Moment {
  readonly now: number
  /** Occurrences up to this long after now are stored in advance, plus one more. */
  readonly horizonMs: number
}

const nothing: OccurrencePlan = { occurrences: [], nextAt: null, skipBefore: null, due: null, leftOut: 0 }

export function planOccurrences(
  schedule: Schedule,
  policy: MisfirePolicy,
  standing: ScheduleStanding,
  moment: Moment,
): OccurrencePlan {
  if (standing.paused) return nothing
  return schedule.kind === 'calendar'
    ? planCalendar(schedule, policy, standing, moment)
    : planRepeat(schedule, policy, standing, moment.now)
}

/** Continues from `end`, up to which everything is stored. For a scheduler that is on time or only slightly late. */
export function planOnward(schedule: CalendarSchedule, end: number, { now, horizonMs }: Moment): OccurrencePlan {
  const onward = occurrencesAfter(schedule, end, now + horizonMs)
  const nextAt = end > now ? schedule.next(now) : (onward.find((at) => at > now) ?? null)
  return { ...nothing, nextAt, occurrences: onward.map((at) => ({ at, why: at > now ? 'next' : 'current' })) }
}

/** Plans only what falls on this instant: nothing before it and nothing ahead. */
export function planFrozen(schedule: Schedule, at: number): OccurrencePlan {
  const current = schedule.kind === 'calendar' ? schedule.current(at) : null
  return current === null ? nothing : { ...nothing, occurrences: [{ at: current, why: 'current' }] }
}

/** Removes what lies after the last time at which the schedule may be due. A calendar's own times already end there. */
export function planUpTo(lastAt: number | null, plan: OccurrencePlan): OccurrencePlan {
  if (lastAt === null || plan.nextAt === null || plan.nextAt <= lastAt) return plan
  return { ...plan, occurrences: plan.occurrences.filter(({ at }) => at <= lastAt), nextAt: null, isOver: true }
}

function planCalendar(
  schedule: CalendarSchedule,
  policy: MisfirePolicy,
  { since, latest }: ScheduleStanding,
  { now, horizonMs }: Moment,
): OccurrencePlan {
  const seenUntil = Math.max(since, latest?.at ?? since)
  const current = schedule.current(now)
  // A schedule that is new, resumed or changed starts with what comes after that, not with a minute that had already begun.
  const isAfter = current !== null && (latest === null ? current >= since : current > since)
  const isCurrentMeant = isAfter && !isMissed(schedule, policy, current, now)
  const madeUp = madeUpFor(schedule, policy, seenUntil, now)
  const missed = madeUp.filter((at) => at !== current)
  // A new schedule may have been stored some time after this pass began. What fell due in between is before its start.
  const ahead = occurrencesAfter(schedule, latest === null ? Math.max(now, since - 1) : now, now + horizonMs)
  return {
    occurrences: [
      ...missed.map((at) => ({ at, why: 'missed' as const })),
      ...(isCurrentMeant ? [{ at: current, why: 'current' as const }] : []),
      ...ahead.map((at) => ({ at, why: 'next' as const })),
    ],
    nextAt: ahead[0] ?? null,
    due: null,
    skipBefore: skipBefore(schedule, policy, latest, madeUp, now),
    leftOut: leftOut(schedule, seenUntil, missed[0] ?? (isCurrentMeant ? current : now + 1)),
  }
}

function leftOut(schedule: CalendarSchedule, seenUntil: number, before: number): number {
  let count = 0
  for (let at = schedule.next(seenUntil); at !== null && at < before && count < mostLeftOut; at = schedule.next(at)) count++
  return count
}

function skipBefore(
  schedule: CalendarSchedule,
  policy: MisfirePolicy,
  latest: ScheduleStanding['latest'],
  madeUp: readonly number[],
  now: number,
): number | null {
  if (latest === null || latest.at > now) return null
  // If there are more than the cap allows, the latest ones are kept, whether stored in advance or made up for now.
  const isFull = policy.kind === 'all' && madeUp.length === policy.cap
  const before = isFull ? (madeUp[0] as number) : missedBefore(schedule, policy, now)
  return latest.at < before ? before : null
}

/** Maximum number of occurrences to plan ahead. One minute of a schedule that runs every second stays far below this. */
const mostAhead = 5_000

/** The occurrences up to `until`, and the first one after it. */
function occurrencesAfter(schedule: CalendarSchedule, afterMs: number, until: number): readonly number[] {
  const ahead: number[] = []
  let at = schedule.next(afterMs)
  while (at !== null && ahead.length < mostAhead) {
    ahead.push(at)
    if (at > until) break
    at = schedule.next(at)
  }
  return ahead
}

/** A repeat waits for its last run to end. The store lets only one scheduler add the next one. */
function planRepeat(
  schedule: RepeatSchedule,
  policy: MisfirePolicy,
  { latest, since }: ScheduleStanding,
  now: number,
): OccurrencePlan {
  if (latest === null) {
    const at = Math.floor(now / 1_000) * 1_000
    return { ...nothing, occurrences: [{ at, why: 'current', follows: null }] }
  }
  if (latest.outcome === null) {
    if (latest.at > now) return { ...nothing, nextAt: latest.at }
    if (isMissedRepeat(schedule, policy, latest.at, now)) return { ...nothing, skipBefore: latest.at + 1 }
    return { ...nothing, due: latest.at }
  }
  const at = Math.max(afterRun(schedule, policy, latest, since, now), latest.at + 1_000)
  return { ...nothing, nextAt: at, occurrences: [{ at, why: at > now ? 'next' : 'current', follows: latest.at }] }
}

function afterRun(schedule: RepeatSchedule, policy: MisfirePolicy, latest: OccurrenceRecord, since: number, now: number): number {
  // A repeat counts in whole seconds and must not start a fraction too early.
  const finishedAt = Math.ceil((latest.finishedAt ?? latest.at) / 1_000) * 1_000
  const run = { scheduledAt: latest.at, startedAt: latest.startedAt ?? finishedAt, finishedAt }
  const following = schedule.following(run)
  if (following < since) return afterBreak(schedule, following, since)
  return catchUp(schedule, following, now, catchUpLimits(policy))
}

/** Occurrences during a pause are not made up for. */
function afterBreak(schedule: RepeatSchedule, following: number, since: number): number {
  const resumedAt = Math.ceil(since / 1_000) * 1_000
  return Math.max(resumedAt, catchUp(schedule, following, since, { withinMs: 0, cap: 0 }))
}
