import type { ScheduleStanding } from '../backends/store.ts'
import { catchUpLimits, type MisfirePolicy, madeUpFor, missedBefore } from '../scheduling/misfire.ts'
import { catchUp } from '../scheduling/repeating/catch-up.ts'
import type { CalendarSchedule, RepeatSchedule, Schedule } from '../scheduling/schedule.ts'

/** What a pass means to do for one schedule. */
export interface OccurrencePlan {
  readonly occurrences: readonly PlannedOccurrence[]
  /** When the schedule is due next, as far as anybody can know. */
  readonly nextAt: number | null
  /** Stored occurrences before this that nobody has begun are past their policy. */
  readonly skipBefore: number | null
}

export interface PlannedOccurrence {
  readonly at: number
  readonly why: 'missed' | 'current' | 'next'
  /** The occurrence that must be the latest one for this to be stored; null is none. Absent where the instant itself is enough. */
  readonly follows?: number | null
}

export interface Moment {
  readonly now: number
  /** All occurrences up to so long after now are stored ahead, and always one more. */
  readonly horizonMs: number
}

const nothing: OccurrencePlan = { occurrences: [], nextAt: null, skipBefore: null }

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

/** Goes on from `end`, up to which all is stored: a scheduler that is on time, or late by no more than a few runs. */
export function planOnward(schedule: CalendarSchedule, end: number, { now, horizonMs }: Moment): OccurrencePlan {
  const onward = occurrencesAfter(schedule, end, now + horizonMs)
  const nextAt = end > now ? schedule.next(now) : (onward.find((at) => at > now) ?? null)
  return { ...nothing, nextAt, occurrences: onward.map((at) => ({ at, why: at > now ? 'next' : 'current' })) }
}

/** As if it were this instant: only what falls on it, nothing before and nothing ahead. */
export function planFrozen(schedule: Schedule, at: number): OccurrencePlan {
  const current = schedule.kind === 'calendar' ? schedule.current(at) : null
  return current === null ? nothing : { ...nothing, occurrences: [{ at: current, why: 'current' }] }
}

function planCalendar(
  schedule: CalendarSchedule,
  policy: MisfirePolicy,
  { since, latest }: ScheduleStanding,
  { now, horizonMs }: Moment,
): OccurrencePlan {
  const seenUntil = Math.max(since, latest?.at ?? since)
  const current = schedule.current(now)
  // A schedule that was resumed or changed begins with what comes after that.
  const isCurrentMeant = current !== null && (latest === null || current > since)
  const missed = madeUpFor(schedule, policy, seenUntil, now).filter((at) => at !== current)
  const ahead = occurrencesAfter(schedule, now, now + horizonMs)
  return {
    occurrences: [
      ...missed.map((at) => ({ at, why: 'missed' as const })),
      ...(isCurrentMeant ? [{ at: current, why: 'current' as const }] : []),
      ...ahead.map((at) => ({ at, why: 'next' as const })),
    ],
    nextAt: ahead[0] ?? null,
    skipBefore: skipBefore(schedule, policy, latest, now),
  }
}

function skipBefore(
  schedule: CalendarSchedule,
  policy: MisfirePolicy,
  latest: ScheduleStanding['latest'],
  now: number,
): number | null {
  if (latest === null || latest.at > now) return null
  const before = missedBefore(schedule, policy, now)
  return latest.at < before ? before : null
}

/** A schedule of each second, a minute ahead, stays far below this. */
const mostAhead = 5_000

/** Up to `until`, and the first one after it. */
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

/** A repeat waits for the end of its last run; the store lets only one scheduler add what follows it. */
function planRepeat(schedule: RepeatSchedule, policy: MisfirePolicy, { latest }: ScheduleStanding, now: number): OccurrencePlan {
  if (latest === null) {
    const at = Math.floor(now / 1_000) * 1_000
    return { ...nothing, occurrences: [{ at, why: 'current', follows: null }] }
  }
  if (latest.outcome === null) return { ...nothing, nextAt: latest.at > now ? latest.at : null }
  const finishedAt = latest.finishedAt ?? latest.at
  const run = { scheduledAt: latest.at, startedAt: latest.startedAt ?? finishedAt, finishedAt }
  const following = Math.max(catchUp(schedule, schedule.following(run), now, catchUpLimits(policy)), latest.at + 1_000)
  const why = following > now ? 'next' : 'missed'
  return { ...nothing, nextAt: following, occurrences: [{ at: following, why, follows: latest.at }] }
}
