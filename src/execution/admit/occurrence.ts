import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { RepeatedErrors } from '../../core/repeated-errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatDuration } from '../../core/time/duration.ts'
import { formatInstant } from '../../core/time/instant.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Dependency } from '../../definition/policies/dependency.ts'
import type { Overlap } from '../../definition/policies/overlap.ts'
import { type Recurrence, scheduleOf, storedName } from '../../definition/recurrence.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { ScheduleStore } from '../../queue/contract/schedule-store.ts'
import { isMissed, isMissedRepeat, type MisfirePolicy } from '../../scheduling/misfire.ts'
import type { Schedule } from '../../scheduling/schedule.ts'
import { runLogger } from '../attempt/run-logger.ts'
import type { Outcome } from '../end/outcome.ts'
import { type DependencyDeps, heldByDependencies } from './dependencies.ts'

export interface OccurrenceDeps extends DependencyDeps {
  readonly clock: Clock
  /** The queue's clock, if it has one: lateness must not depend on the clock of the machine that happens to run the job. */
  readonly schedulesClock?: Clock
  readonly services: { readonly errors: RepeatedErrors }
}

/** A scheduled run whose schedule is defined in this program or was created at run time. */
export interface ScheduledRun extends ScheduleRules {
  readonly schedules: ScheduleStore
  /** The instant that it stands for. */
  readonly at: number
  /** When a scheduler stored it: before it was due, or later to make up for a missed run. */
  readonly storedAt: number
  readonly logger: Logger
}

/** The rules for the runs of a schedule. */
interface ScheduleRules {
  /** The name of the schedule. */
  readonly name: string
  readonly schedule: Schedule
  readonly misfire: MisfirePolicy
  readonly overlap: Overlap
  readonly enabled: boolean
  readonly dependsOn: readonly Dependency[]
}

export interface ScheduledRunDeps {
  readonly find: (job: string) => JobDefinition | undefined
  /** Undefined if the backend stores no schedules. */
  readonly schedules: ScheduleStore | undefined
  readonly services: { readonly logger: Logger }
}

/** Null for a job that was dispatched, or if this program or this backend does not know the schedule. */
export function scheduledRun(
  identity: Pick<Identity, 'id' | 'job' | 'name' | 'occurrence' | 'recurrence'>,
  storedAt: number,
  { find, schedules, services }: ScheduledRunDeps,
): ScheduledRun | null {
  const { occurrence: at, job, recurrence } = identity
  if (at === null || schedules === undefined) return null
  const rules = recurrence === undefined ? rulesOfCode(find(job)) : rulesOf(recurrence)
  return rules === null ? null : { ...rules, schedules, at, storedAt, logger: runLogger(identity, services.logger) }
}

function rulesOfCode(definition: JobDefinition | undefined): ScheduleRules | null {
  const schedule = definition?.fields.schedule ?? null
  if (definition === undefined || schedule === null) return null
  const { job: name, misfire, overlap, fields } = definition
  return { name, schedule, misfire, overlap, enabled: fields.enabled, dependsOn: fields.dependsOn }
}

/** The rules travel with each run, signed: the schedule may have been changed or deleted since. */
function rulesOf(recurrence: Recurrence): ScheduleRules | null {
  const { key, misfire, overlap } = recurrence
  try {
    return { name: storedName(key), schedule: scheduleOf(recurrence), misfire, overlap, enabled: true, dependsOn: [] }
  } catch {
    // It was created by a newer version, with a kind of schedule that this one does not know.
    return null
  }
}

/** How long to wait before trying again while the database does not answer. */
const askAgainMs = 1_000
/** The part of a second over which runs that wait for their turn are spread. */
const inTurnMs = 900

/** What happens to a scheduled run instead of its first attempt; null if it may begin. */
export async function heldBySchedule(run: ScheduledRun, deps: OccurrenceDeps): Promise<Outcome | null> {
  const { name, overlap, enabled, dependsOn, schedules, at, logger } = run
  const now = (deps.schedulesClock ?? deps.clock).now()
  if (!enabled) return { kind: 'skipped', why: 'its schedule is disabled' }
  const isLate = isPastPolicy(run, now)
  if (!isLate && overlap === 'allow' && dependsOn.length === 0) return null
  try {
    const { unended, seen } = await schedules.neighbours({ schedule: name, at })
    if (isLate && !seen) return missed(name, at, now)
    if (unended !== null && unended <= now && overlap !== 'allow') return overlapping(run, overlap, unended, now)
    return await heldByDependencies({ ...run, isWatched: seen || isWatched(run, now) }, now, deps)
  } catch (thrown) {
    deps.services.errors.tryingAgain(logger, thrown, 'the runs that this scheduled run has to wait for could not be read')
    return { kind: 'snooze', delayMs: askAgainMs }
  }
}

function missed(schedule: string, at: number, now: number): Outcome {
  return { kind: 'skipped', why: `missed: due at ${formatInstant(at)}, found ${span(at, now)} late`, missedBy: schedule }
}

/**
 * Skips occurrences that fell due during a run but could not begin for lack of a slot or a free worker: they overlapped it too.
 * They must end before the run frees its slot, or they would run one after the other, ever later.
 */
export async function skipOvertaken(
  run: ScheduledRun,
  { clock, schedulesClock = clock }: Pick<OccurrenceDeps, 'clock' | 'schedulesClock'>,
): Promise<void> {
  const { name, overlap, schedules, at, logger } = run
  if (overlap !== 'skip') return
  try {
    const why = `the run of ${formatInstant(at)} had not ended`
    const skipped = await schedules.skipWaiting({
      schedule: name,
      before: schedulesClock.now(),
      unseenOnly: false,
      why,
    })
    if (skipped > 0) logger.warn(`scheduled runs that fell due during this one are skipped: ${skipped}`)
  } catch (thrown) {
    logger.error(`scheduled runs that fell due during this one could not be skipped: ${messageOf(thrown)}`)
  }
}

/** A run that was stored late is exactly as late as a scheduler intended. */
function isPastPolicy({ misfire, schedule, at, storedAt }: ScheduledRun, now: number): boolean {
  if (storedAt >= at) return false
  return schedule.kind === 'calendar' ? isMissed(schedule, misfire, at, now) : isMissedRepeat(schedule, misfire, at, now)
}

/**
 * Whether a scheduler was running when it was due, apart from what its neighbours show. A repeat has no later neighbour to show
 * it.
 */
function isWatched({ schedule, at, storedAt }: ScheduledRun, now: number): boolean {
  return storedAt >= at || at > now || schedule.kind === 'repeat'
}

/** The earlier run never yields to the later one: if two begin at once, exactly the earlier one runs. */
function overlapping({ at, logger }: ScheduledRun, overlap: 'skip' | 'queue', unended: number, now: number): Outcome {
  // It has its slot, but the run before it waits for another attempt, or comes up after it.
  if (overlap === 'queue') {
    return { kind: 'snooze', delayMs: untilItsTurnMs(at, unended, now), why: `waits for the run of ${formatInstant(unended)}` }
  }
  const why = `the run of ${formatInstant(unended)} has not ended, ${span(unended, now)} after it was due`
  logger.warn(`is skipped: ${why}`)
  return { kind: 'skipped', why }
}

/**
 * All runs that wait for the same one come up again in the same second, each at the part of it that its instant says. So they come
 * up in order, whatever order they were found in: one that comes up before the run it waits for would wait for another second.
 */
function untilItsTurnMs(at: number, unended: number, now: number): number {
  const nextSecond = askAgainMs - (now % askAgainMs)
  const place = at >= now ? 1 : (at - unended) / (now - unended)
  return nextSecond + Math.round(place * inTurnMs)
}

function span(from: number, to: number): string {
  return formatDuration(Math.round((to - from) / 1_000) * 1_000)
}
