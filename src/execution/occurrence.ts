import type { ScheduleStore } from '../backends/schedule-store.ts'
import type { Clock } from '../core/clock.ts'
import { formatDuration } from '../core/duration.ts'
import { messageOf } from '../core/errors.ts'
import { formatInstant } from '../core/instant.ts'
import type { Logger } from '../core/logger.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { isMissed, isMissedRepeat } from '../scheduling/misfire.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { type DependencyDeps, heldByDependencies } from './dependencies.ts'
import type { Outcome } from './outcome.ts'

export interface OccurrenceDeps extends DependencyDeps {
  readonly clock: Clock
  /** The queue's, where it has one: whether a run is late is not for the clock of the machine that happens to run it. */
  readonly schedulesClock?: Clock
}

/** A scheduled run, in a program whose definition has the schedule. */
export interface ScheduledRun {
  readonly definition: JobDefinition
  readonly schedule: Schedule
  readonly schedules: ScheduleStore
  /** The instant that it stands for. */
  readonly at: number
  /** When a scheduler stored it: before it was due, or later to make up for it. */
  readonly storedAt: number
  readonly logger: Logger
}

/** While the database does not answer, it is asked again after so long. */
const askAgainMs = 1_000

/** What becomes of a scheduled run in place of its first attempt, or null when it may begin. */
export async function heldBack(run: ScheduledRun, deps: OccurrenceDeps): Promise<Outcome | null> {
  const { definition, schedules, at, logger } = run
  const { overlap, fields } = definition
  const now = (deps.schedulesClock ?? deps.clock).now()
  if (!fields.enabled) return { kind: 'skipped', why: 'its schedule is disabled' }
  const isLate = isPastPolicy(run, now)
  if (!isLate && overlap === 'allow' && fields.dependsOn.length === 0) return null
  try {
    const { unended, seen } = await schedules.neighbours({ schedule: definition.job, at })
    if (isLate && !seen) return missed(at, now)
    if (unended !== null && unended <= now && overlap !== 'allow') return overlapping(overlap, unended, now, logger)
    return await heldByDependencies({ ...run, isWatched: seen || isWatched(run, now) }, now, deps)
  } catch (thrown) {
    logger.error(`what this scheduled run has to wait for could not be looked up: ${messageOf(thrown)}; trying again`)
    return { kind: 'snooze', delayMs: askAgainMs }
  }
}

function missed(at: number, now: number): Outcome {
  return { kind: 'skipped', why: `missed: due at ${formatInstant(at)}, found ${span(at, now)} late`, isMissed: true }
}

/**
 * What fell due during a run and could not begin, for want of a slot or a free worker, overlapped it all the same. It is ended
 * before the run frees its slot, or such runs would follow one by one, ever later.
 */
export async function skipOvertaken(run: ScheduledRun, { clock, schedulesClock = clock }: OccurrenceDeps): Promise<void> {
  const { definition, schedules, at, logger } = run
  if (definition.overlap !== 'skip') return
  try {
    const why = `the run of ${formatInstant(at)} had not ended`
    const skipped = await schedules.skipWaiting({
      schedule: definition.job,
      before: schedulesClock.now(),
      unseenOnly: false,
      why,
    })
    if (skipped > 0) logger.info(`scheduled runs that fell due during this one are skipped: ${skipped}`)
  } catch (thrown) {
    logger.error(`scheduled runs that fell due during this one could not be skipped: ${messageOf(thrown)}`)
  }
}

/** One that was stored late is as late as a scheduler wanted it. */
function isPastPolicy({ definition, schedule, at, storedAt }: ScheduledRun, now: number): boolean {
  if (storedAt >= at) return false
  const { misfire } = definition
  return schedule.kind === 'calendar' ? isMissed(schedule, misfire, at, now) : isMissedRepeat(schedule, misfire, at, now)
}

/** Whether a scheduler was there when it was due, beside what its neighbours tell. After a repeat there is none to tell. */
function isWatched({ schedule, at, storedAt }: ScheduledRun, now: number): boolean {
  return storedAt >= at || at > now || schedule.kind === 'repeat'
}

/** The earlier run never yields to the later one: of two that begin at once, exactly the earlier one runs. */
function overlapping(overlap: 'skip' | 'queue', unended: number, now: number, logger: Logger): Outcome {
  // It has its slot, but the run before it waits for another attempt.
  if (overlap === 'queue') return { kind: 'snooze', delayMs: askAgainMs, why: `waits for the run of ${formatInstant(unended)}` }
  const why = `the run of ${formatInstant(unended)} has not ended, ${span(unended, now)} after it was due`
  logger.info(`is skipped: ${why}`)
  return { kind: 'skipped', why }
}

function span(from: number, to: number): string {
  return formatDuration(Math.round((to - from) / 1_000) * 1_000)
}
