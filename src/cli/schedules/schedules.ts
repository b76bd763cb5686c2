import { nextRunOf, storedNextRun } from '../../app/schedules/next-run.ts'
import type { ListedSchedule, StoredSchedule, StoredScheduleState } from '../../app/schedules/stored-schedule.ts'
import type { Treadle } from '../../app/treadle.ts'
import { TreadleError } from '../../core/errors.ts'
import { whatThereIs } from '../../core/options.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { scheduleOf } from '../../definition/recurrence.ts'
import { type FinalState, isFinal } from '../../queue/contract/job-state.ts'
import type { OccurrenceRecord } from '../../queue/contract/schedule-store.ts'
import type { JobRecord, JobStore } from '../../queue/contract/store.ts'
import type { RepeatSchedule, Schedule } from '../../scheduling/schedule.ts'
import type { DryRun } from '../../worker/scheduler/dry-run.ts'
import { iso } from '../output/jobs/jobs.ts'
import { limitsOf, type RunLimits, type RunRules, rulesOf } from './run-rules.ts'
import { parseExpression } from './schedule-expression.ts'

/**
 * `new` is in the code, but no scheduler has seen it yet. A schedule created at run time is rejected if its signature
 * is wrong, and has ended if its last instant has passed.
 */
export type ScheduleState = 'active' | 'new' | 'paused' | 'disabled' | 'other environment' | 'not in code' | StoredScheduleState

export interface ScheduleStatus {
  readonly schedule: string
  readonly state: ScheduleState
  readonly expression: string
  readonly timezone: string
  readonly job: string
  /** Its key if it was created at run time; null if it is in the code. */
  readonly key: string | null
  /** Null if the job is not known here. */
  readonly limits: RunLimits | null
  readonly rules: RunRules | null
  /** The schedule in words; null if its expression cannot be read here. */
  readonly text: string | null
  /** The last occurrence that was due. */
  readonly last: LastRun | null
  /** Whether it is a repeat that has never run: its first run comes when a scheduler first sees it. */
  readonly beginsAtOnce: boolean
  readonly nextAt: string | null
}

export interface LastRun {
  readonly at: string
  readonly jobId: string
  /** How it ended, or its current state. */
  readonly state: FinalState | 'waits' | 'running' | 'retrying'
  /** When it may start, while it waits or is to be retried. */
  readonly runAt: string | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
}

/**
 * The schedules that schedulers have recorded, and those in the code. `complete` is false if not all of the code is
 * known.
 */
export async function readSchedules(jobs: Treadle, now: number, complete: boolean): Promise<readonly ScheduleStatus[]> {
  const records = new Map((await jobs.schedules.list()).map((record) => [record.name, record]))
  const unended = await unendedJobs(await jobs.store(), [...records.values()])
  const coded = complete ? await codedSchedules(jobs, { records, unended, now }) : []
  const names = new Set(coded.map(({ schedule }) => schedule))
  const others = [...records.values()].filter(({ name }) => !names.has(name))
  const find = (job: string) => (jobs.has(job) ? jobs.definitions().find((definition) => definition.job === job) : undefined)
  const all = [...coded, ...others.map((record) => recordedStatus(record, { unended, complete, find }))]
  return all.toSorted((a, b) => (a.schedule < b.schedule ? -1 : 1))
}

/** A stored schedule can be given by its key or by its name. */
export function refuseUnknownSchedule(name: string, known: readonly Pick<ScheduleStatus, 'schedule' | 'key'>[]): void {
  if (known.some(({ schedule, key }) => schedule === name || key === name)) return
  const names = known.map(({ schedule, key }) => key ?? schedule)
  throw new TreadleError('SCHEDULE_UNKNOWN', `There is no schedule "${name}". ${whatThereIs(name, names, 'Known')}.`)
}

/** An occurrence with its times as text. */
export function occurrenceJson({ at, startedAt, finishedAt, ...rest }: OccurrenceRecord): object {
  return { ...rest, at: iso(at), startedAt: iso(startedAt), finishedAt: iso(finishedAt) }
}

/** A schedule in the code, or a stored one. */
export async function scheduleNamed(jobs: Treadle, name: string): Promise<Schedule> {
  const isCoded = jobs.definitions().some(({ job, fields }) => job === name && fields.schedule !== null)
  const stored = isCoded ? null : await jobs.schedules.get(name)
  return stored === null ? scheduleInCode(jobs, name) : scheduleOf(stored)
}

/** The schedule that the code sets for a job. */
export function scheduleInCode(jobs: Treadle, name: string): Schedule {
  const scheduled = new Map(jobs.definitions().flatMap(({ job, fields: { schedule } }) => (schedule ? [[job, schedule]] : [])))
  if (jobs.has(name) && !scheduled.has(name)) {
    throw new TreadleError('SCHEDULE_UNKNOWN', `The job "${name}" has no schedule: it runs only when it is sent.`)
  }
  refuseUnknownSchedule(
    name,
    [...scheduled.keys()].map((schedule) => ({ schedule, key: null })),
  )
  return scheduled.get(name) as Schedule
}

type Unended = ReadonlyMap<string, JobRecord>

interface Known {
  readonly records: ReadonlyMap<string, ListedSchedule>
  readonly unended: Unended
  readonly now: number
}

/** The jobs of the last occurrences that have not ended; the occurrence itself records only how it ended. */
async function unendedJobs(store: JobStore, records: readonly ListedSchedule[]): Promise<Unended> {
  const ids = records.flatMap(({ last }) => (last !== null && last.outcome === null ? [last.jobId] : []))
  const found = await Promise.all(ids.map((id) => store.get(id)))
  return new Map(found.flatMap((job) => (job === null ? [] : [[job.id, job]])))
}

async function codedSchedules(jobs: Treadle, known: Known): Promise<readonly ScheduleStatus[]> {
  const leftOut = new Map((await jobs.schedules.dryRun()).map((each) => [each.schedule, each.leftOut]))
  return jobs.definitions().flatMap((definition) => {
    const { schedule } = definition.fields
    return schedule === null ? [] : [codedStatus(definition, schedule, leftOut.get(definition.job) ?? null, known)]
  })
}

function stateOf(leftOut: DryRun['leftOut'], record: ListedSchedule | undefined): ScheduleState {
  if (leftOut === null) return record === undefined ? 'new' : 'active'
  return leftOut === 'environment' ? 'other environment' : leftOut
}

function codedStatus(
  definition: JobDefinition,
  schedule: Schedule,
  leftOut: DryRun['leftOut'],
  { records, unended, now }: Known,
): ScheduleStatus {
  const { expression, timezone } = schedule
  const { job } = definition
  const record = records.get(job)
  const state = stateOf(leftOut, record)
  return {
    schedule: job,
    state,
    expression,
    timezone,
    job,
    key: null,
    limits: limitsOf(definition),
    rules: rulesOf(definition),
    text: schedule.explain().text,
    last: lastRun(record?.last ?? null, unended),
    beginsAtOnce: schedule.kind === 'repeat' && record?.last == null && record?.nextAt == null,
    nextAt: state === 'active' || state === 'new' ? iso(nextOf(schedule, record, now)) : null,
  }
}

function nextOf(schedule: Schedule, record: ListedSchedule | undefined, now: number): number | null {
  if (schedule.kind === 'calendar') return nextRunOf(schedule, record ?? null, now)
  return storedNextRun(schedule, record ?? null) ?? followingOf(schedule, record?.last ?? null)
}

/** When a repeat runs next, after a run that has ended. */
function followingOf(repeat: RepeatSchedule, last: OccurrenceRecord | null): number | null {
  if (last === null || last.finishedAt === null) return null
  const { at, startedAt, finishedAt } = last
  return repeat.following({ scheduledAt: at, startedAt: startedAt ?? finishedAt, finishedAt })
}

interface Elsewhere {
  readonly unended: Unended
  readonly complete: boolean
  readonly find: (job: string) => JobDefinition | undefined
}

function recordedStatus(record: ListedSchedule, elsewhere: Elsewhere): ScheduleStatus {
  const { name, expression, timezone, paused, nextAt, stored } = record
  const { unended, complete, find } = elsewhere
  const last = lastRun(record.last, unended)
  const common = { schedule: name, expression, timezone, last }
  if (stored !== null) return { ...common, ...storedStatus(stored, elsewhere) }
  const state = complete ? 'not in code' : paused ? 'paused' : 'active'
  const known = find(name)
  const limits = known === undefined ? null : limitsOf(known)
  return {
    ...common,
    job: name,
    key: null,
    limits,
    rules: null,
    state,
    text: wordsOf(record),
    beginsAtOnce: false,
    nextAt: iso(nextAt),
  }
}

/** Another version may have written the expression. */
function wordsOf({ expression, timezone }: ListedSchedule): string | null {
  try {
    return parseExpression(expression, timezone).explain().text
  } catch {
    return null
  }
}

type StoredStatus = Omit<ScheduleStatus, 'schedule' | 'expression' | 'timezone' | 'last'>

function storedStatus(stored: StoredSchedule, { complete, find }: Elsewhere): StoredStatus {
  const { key, job, text, kind, last, nextAt } = stored
  const definition = find(job)
  const isElsewhere = stored.state === 'unknown job' && !complete
  const state = isElsewhere ? (stored.paused ? 'paused' : 'active') : stored.state
  return {
    job,
    key,
    limits: definition === undefined ? null : limitsOf(definition),
    rules: rulesOf(stored),
    state,
    text,
    beginsAtOnce: kind !== 'cron' && last === null && nextAt === null,
    nextAt: state === 'active' ? iso(nextAt) : null,
  }
}

function lastRun(last: OccurrenceRecord | null, unended: Unended): LastRun | null {
  if (last === null) return null
  const { at, jobId, outcome, startedAt, finishedAt } = last
  const job = unended.get(jobId)
  return {
    at: new Date(at).toISOString(),
    jobId,
    state: outcome ?? (job === undefined ? 'waits' : progressOf(job)),
    runAt: job === undefined || job.state === 'running' ? null : iso(job.runAt),
    startedAt: iso(startedAt ?? job?.startedAt ?? null),
    finishedAt: iso(finishedAt),
  }
}

/** The job may have ended since the occurrence was read. */
function progressOf(job: JobRecord): LastRun['state'] {
  if (job.state === 'running' || isFinal(job.state)) return job.state
  return job.attempts > 0 ? 'retrying' : 'waits'
}
