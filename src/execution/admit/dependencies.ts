import { TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { formatInstant } from '../../core/time/instant.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Dependency } from '../../definition/policies/dependency.ts'
import type { OccurrenceRecord, ScheduleStore } from '../../queue/contract/schedule-store.ts'
import { lastOccurrences } from '../../queue/contract/schedule-store.ts'
import type { CalendarSchedule } from '../../scheduling/schedule.ts'
import type { Outcome } from '../end/outcome.ts'

export interface DependencyDeps {
  readonly find: (job: string) => JobDefinition | undefined
  /** The environment of this program: a schedule that is not enabled there produces no runs to wait for. */
  readonly environment: string | null
}

/** A scheduled run that is about to begin. */
export interface DependentRun {
  readonly dependsOn: readonly Dependency[]
  readonly schedules: ScheduleStore
  readonly at: number
  readonly storedAt: number
  /** Whether a scheduler was running when it was due. If so, its dependencies are stored soon after that, or never. */
  readonly isWatched: boolean
  readonly logger: Logger
}

const patienceMs = 120_000
/** No run waits forever, whatever it waits for. */
const longestPatienceMs = 86_400_000
const shortestWaitMs = 1_000
const longestWaitMs = 15_000

/** What happens to a run because of the jobs it depends on; null if it may begin. */
export async function heldByDependencies(run: DependentRun, now: number, deps: DependencyDeps): Promise<Outcome | null> {
  if (run.dependsOn.length === 0) return null
  // A run for a future instant was due when it was stored.
  const waitedMs = now - (run.at > now ? run.storedAt : Math.max(run.at, run.storedAt))
  const isPatient = waitedMs <= (run.isWatched ? patienceMs : longestPatienceMs)
  const awaited = await awaitedRuns(run, now, deps)
  const failed = awaited.filter((each) => verdictOf(each, isPatient) === 'failed')
  const decisive = failed.find(({ dependency }) => dependency.onFailure !== 'run')
  if (decisive !== undefined) return outcomeOfFailure(decisive)
  if (awaited.some((each) => verdictOf(each, isPatient) === 'pending')) {
    const delayMs = Math.round(Math.min(Math.max(waitedMs / 4, shortestWaitMs), longestWaitMs))
    return { kind: 'snooze', delayMs, why: `waits for ${pendingNames(awaited, isPatient)}` }
  }
  for (const each of failed) run.logger.warn(`runs although ${whyFailed(each)}`)
  return null
}

/** What a dependency should have run by now. */
interface Awaited {
  readonly dependency: Dependency
  /** Why there is no run to wait for; null if there is one. */
  readonly obstacle: string | null
  /** The last occurrence at or before the instant of the waiting run, then the latest ones since. Empty if none is known. */
  readonly instants: readonly number[]
  /** Occurrences that its schedule has not stored yet will not come. */
  readonly isPaused: boolean
}

interface AwaitedRun extends Awaited {
  /** In the order of the instants; null for an occurrence that was never stored. */
  readonly records: readonly (OccurrenceRecord | null)[]
}

async function awaitedRuns(run: DependentRun, now: number, deps: DependencyDeps): Promise<readonly AwaitedRun[]> {
  const { dependsOn, schedules } = run
  const awaited = await Promise.all(dependsOn.map((dependency) => awaitedOf(dependency, run, now, deps)))
  const keys = awaited.flatMap(({ dependency, instants }) => instants.map((at) => ({ schedule: dependency.job, at })))
  const found = (await schedules.occurrences({ keys })).values()
  return awaited.map((each) => {
    const records = each.instants.map(() => found.next().value ?? null)
    const isWaitedInVain = each.isPaused && (records[0] ?? null) === null
    return { ...each, records, obstacle: isWaitedInVain ? 'whose schedule is paused' : each.obstacle }
  })
}

async function awaitedOf(
  dependency: Dependency,
  { at, schedules }: DependentRun,
  now: number,
  { find, environment }: DependencyDeps,
): Promise<Awaited> {
  const definition = find(dependency.job)
  const schedule = definition?.fields.schedule ?? null
  const nothing = { dependency, instants: [], isPaused: false }
  if (schedule === null) return { ...nothing, obstacle: 'which has no schedule here' }
  if (definition?.isFollowedIn(environment) !== true) return { ...nothing, obstacle: 'whose schedule is not followed here' }
  const [standing] = await schedules.standings([dependency.job])
  const named = schedule.kind === 'calendar' ? calendarInstants(schedule, at, now) : []
  // Instants before the schedule was changed or first registered never existed under it: use its last run before that.
  const isOld = named[0] !== undefined && standing !== undefined && named[0] < standing.since
  const instants = schedule.kind === 'repeat' || isOld ? await lastRuns(dependency.job, at, schedules) : named
  const obstacle = isOld && instants.length === 0 ? 'which has not been due yet' : null
  return { dependency, instants, obstacle, isPaused: standing?.paused ?? false }
}

/** Of the later ones, the last two: if runs follow each other closely, one may always be in progress. */
function calendarInstants(schedule: CalendarSchedule, at: number, now: number): readonly number[] {
  const awaited = schedule.previous(at + 1)
  if (awaited === null) return []
  const last = schedule.previous(now + 1)
  const lastButOne = last === null ? null : schedule.previous(last)
  return [awaited, ...[lastButOne, last].filter((instant) => instant !== null && instant > awaited)] as number[]
}

/** The last run in the store. While that is in progress, the one before it counts: a repeat may always be in progress. */
async function lastRuns(job: string, at: number, schedules: ScheduleStore): Promise<readonly number[]> {
  const [last, lastButOne] = await lastOccurrences(schedules, job, at, 2)
  const awaited = last?.outcome === null && lastButOne !== undefined ? lastButOne : last
  return awaited === undefined ? [] : [awaited.at]
}

function verdictOf({ obstacle, records }: AwaitedRun, isPatient: boolean): 'succeeded' | 'pending' | 'failed' {
  if (obstacle !== null) return 'failed'
  const [awaited = null, ...later] = records
  switch (awaited?.outcome) {
    case 'succeeded':
      return 'succeeded'
    case null:
      return 'pending'
    case 'dead':
    case 'cancelled':
      return 'failed'
  }
  // It was skipped or never stored, but a later run may have made up for it.
  if (later.some((record) => record?.outcome === 'succeeded')) return 'succeeded'
  if (later.some((record) => record?.outcome === null)) return 'pending'
  const isIncomplete = awaited === null || later.includes(null)
  return isIncomplete && isPatient ? 'pending' : 'failed'
}

function pendingNames(awaited: readonly AwaitedRun[], isPatient: boolean): string {
  const pending = awaited.filter((each) => verdictOf(each, isPatient) === 'pending')
  return pending.map(({ dependency }) => `"${dependency.job}"`).join(' and ')
}

function outcomeOfFailure(failed: AwaitedRun): Outcome {
  const why = whyFailed(failed)
  if (failed.dependency.onFailure === 'skip') return { kind: 'skipped', why }
  return { kind: 'dead', reason: 'dependency', error: new TreadleError('RUN_FAILED', why) }
}

function whyFailed({ dependency, obstacle, instants, records }: AwaitedRun): string {
  const [at] = instants
  const outcome = records[0]?.outcome
  const how = outcome === undefined ? 'never took place' : `ended as ${outcome}`
  const what = obstacle ?? (at === undefined ? 'which has never run' : `whose run of ${formatInstant(at)} ${how}`)
  return `it depends on "${dependency.job}", ${what}`
}
