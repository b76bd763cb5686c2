import type { JobStore } from '../backends/store.ts'
import { parseInstant } from '../core/instant.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { parseZone } from '../scheduling/calendar/zone.ts'
import { localText } from '../scheduling/explaining/local-time.ts'
import type { RunOptions } from '../worker/config.ts'
import type { DryOccurrence, DryRun } from '../worker/dry-run.ts'
import { iso } from './output/jobs.ts'
import type { ProjectSession } from './session.ts'

export interface DryRunReport {
  /** The time that the schedules were asked for. */
  readonly at: string
  /** The database file where there is none: a pass would make it. */
  readonly missingDatabase: string | null
  readonly schedules: readonly PlannedSchedule[]
  readonly due: DueJobs
}

export interface PlannedSchedule {
  readonly schedule: string
  readonly leftOut: DryRun['leftOut']
  readonly occurrences: readonly PlannedRun[]
}

export interface PlannedRun {
  readonly at: string
  /** On the clock of the schedule's zone. */
  readonly local: string
  readonly why: DryOccurrence['why']
  readonly stored: boolean
}

/** Jobs that are in the queue already and would be run, beside those that would be stored. */
export interface DueJobs {
  readonly count: number
  /** False where there are so many that wait for their time that only the newest were looked at. */
  readonly isExact: boolean
}

/** What a pass with these options would do. Writes nothing. */
export async function readDryRun(session: ProjectSession, options: RunOptions): Promise<DryRunReport> {
  const { project, jobs, now } = session
  const { at, scheduler = true } = options
  const runs = scheduler === false ? [] : await jobs.schedules.dryRun(at === undefined ? {} : { at })
  const definitions = new Map(jobs.definitions().map((definition) => [definition.job, definition]))
  return {
    at: new Date(at === undefined ? now : parseInstant(at, 'at')).toISOString(),
    missingDatabase: project.missingFile,
    schedules: runs.map((run) => planned(run, definitions.get(run.schedule))),
    due: await dueJobs(await jobs.store(), [...definitions.values()], options, now),
  }
}

function planned({ schedule, leftOut, occurrences }: DryRun, definition: JobDefinition | undefined): PlannedSchedule {
  const zone = parseZone(definition?.fields.schedule?.timezone ?? 'UTC')
  const runs = occurrences.map(({ at, why, stored }) => ({ at: iso(at) ?? '', local: localText(zone, at), why, stored }))
  return { schedule, leftOut, occurrences: runs }
}

/** From kept counters, and the jobs that wait for a time that has come. */
async function dueJobs(
  store: JobStore,
  definitions: readonly JobDefinition[],
  { jobs, queues, limit = Number.POSITIVE_INFINITY }: RunOptions,
  now: number,
): Promise<DueJobs> {
  const handled = new Set(definitions.filter(({ fields }) => fields.handler !== null).map(({ job }) => job))
  const paused = await store.pausedQueues()
  const isMeant = ({ job, queue }: { readonly job: string; readonly queue: string }) =>
    handled.has(job) && (jobs?.includes(job) ?? true) && (queues?.includes(queue) ?? true) && !paused.includes(queue)
  const ready = (await store.counts()).filter(isMeant).reduce((sum, { counts }) => sum + counts.ready, 0)
  const waiting = await store.list({ state: 'scheduled', limit: lookedAt })
  const due = waiting.filter((job) => job.runAt <= now && isMeant(job)).length
  return { count: Math.min(ready + due, limit), isExact: waiting.length < lookedAt || ready + due >= limit }
}

const lookedAt = 1_000
