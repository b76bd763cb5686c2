import type { Treadle } from '../../app/treadle.ts'
import { isAmong } from '../../core/text/name-pattern.ts'
import { parseInstant } from '../../core/time/instant.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import { parseZone } from '../../scheduling/calendar/zone.ts'
import { localText } from '../../scheduling/explaining/local-time.ts'
import type { RunOptions } from '../../worker/options.ts'
import type { DryOccurrence, DryRun } from '../../worker/scheduler/dry-run.ts'
import type { ProjectSession } from '../session.ts'

export interface DryRunReport {
  /** The time for which the schedules were evaluated. */
  readonly at: string
  /** The database file, if it does not exist: a pass would create it. */
  readonly missingDatabase: string | null
  readonly schedules: readonly PlannedSchedule[]
  readonly waiting: WaitingJobs
}

export interface PlannedSchedule {
  readonly schedule: string
  readonly leftOut: DryRun['leftOut']
  /** False if this pass would store its runs but leave them to other workers, because another queue or job was requested. */
  readonly isRunHere: boolean
  readonly occurrences: readonly PlannedRun[]
}

export interface PlannedRun {
  readonly at: string
  /** In the time of the schedule's zone. */
  readonly local: string
  readonly why: DryOccurrence['why']
  /** Whether it is due, so that it would run as soon as it is stored. Later ones are stored for their time. */
  readonly isDue: boolean
  readonly stored: boolean
}

/** Due jobs that are already in the queue, in addition to those that would be stored. */
export interface WaitingJobs {
  readonly count: number
  /** False if there are so many scheduled jobs that only the newest were read. */
  readonly isExact: boolean
}

/** What a pass with these options would do. Writes nothing. */
export async function readDryRun(session: ProjectSession, options: RunOptions): Promise<DryRunReport> {
  const { project, jobs, now } = session
  const { at } = options
  const store = await jobs.store()
  const definitions = new Map(jobs.definitions().map((definition) => [definition.job, definition]))
  const isRunHere = takenBy(options, [...definitions.values()], (await store.paused()).queues)
  return {
    at: new Date(at === undefined ? now : parseInstant(at, 'at')).toISOString(),
    missingDatabase: project.missingFile,
    schedules: (await dryRuns(jobs, options)).map((run) =>
      planned(run, definitions.get(run.job), isRunHere, at === undefined ? null : now),
    ),
    waiting: await waitingJobs(store, isRunHere, options, now),
  }
}

/** A pass at an instant evaluates only the schedules of the requested jobs. */
export async function dryRuns(treadle: Treadle, { at, jobs, scheduler }: RunOptions): Promise<readonly DryRun[]> {
  if (scheduler === false) return []
  const runs = await treadle.schedules.dryRun(at === undefined ? {} : { at })
  return at === undefined || jobs === undefined ? runs : runs.filter(({ job }) => isAmong(jobs, job))
}

type IsRunHere = (job: { readonly job: string; readonly queue: string }) => boolean

function takenBy({ jobs, queues }: RunOptions, definitions: readonly JobDefinition[], paused: readonly string[]): IsRunHere {
  const handled = new Set(definitions.filter(({ fields }) => fields.handler !== null).map(({ job }) => job))
  return ({ job, queue }) =>
    handled.has(job) && isAmong(jobs, job) && (queues?.includes(queue) ?? true) && !paused.includes(queue)
}

function planned(
  { schedule, timezone, leftOut, occurrences }: DryRun,
  definition: JobDefinition | undefined,
  isRunHere: IsRunHere,
  nowElsewhere: number | null,
): PlannedSchedule {
  const zone = parseZone(timezone)
  const runs = occurrences.map(({ at, why, stored }) => {
    const isDue = why !== 'next' && (nowElsewhere === null || at <= nowElsewhere)
    return { at: new Date(at).toISOString(), local: localText(zone, at), why, isDue, stored }
  })
  return { schedule, leftOut, isRunHere: definition !== undefined && isRunHere(definition.fields), occurrences: runs }
}

/** From the maintained counters, plus the scheduled jobs that are due. */
async function waitingJobs(
  store: JobStore,
  isMeant: IsRunHere,
  { limit = Number.POSITIVE_INFINITY }: RunOptions,
  now: number,
): Promise<WaitingJobs> {
  const ready = (await store.counts()).filter(isMeant).reduce((sum, { counts }) => sum + counts.ready, 0)
  const waiting = await store.list({ state: 'scheduled', limit: lookedAt })
  const due = waiting.filter((job) => job.runAt <= now && isMeant(job)).length
  return { count: Math.min(ready + due, limit), isExact: waiting.length < lookedAt || ready + due >= limit }
}

const lookedAt = 1_000
