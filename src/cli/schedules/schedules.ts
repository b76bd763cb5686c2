import type { ListedSchedule, StoredSchedule, StoredScheduleState } from '../../app/schedules/stored-schedule.ts'
import type { Treadle } from '../../app/treadle.ts'
import { TreadleError } from '../../core/errors.ts'
import { nearest } from '../../core/options.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import { scheduleOf } from '../../definition/recurrence.ts'
import { type FinalState, isFinal } from '../../queue/contract/job-state.ts'
import type { OccurrenceRecord } from '../../queue/contract/schedule-store.ts'
import type { JobRecord, JobStore } from '../../queue/contract/store.ts'
import type { RepeatSchedule, Schedule } from '../../scheduling/schedule.ts'
import type { DryRun } from '../../worker/scheduler/dry-run.ts'
import { iso } from '../output/jobs/jobs.ts'
import { limitsOf, type RunLimits, type RunRules, rulesOf } from './run-rules.ts'

/**
 * `new` is known from the code, and no scheduler has seen it yet. Of those that were made at run time, one is rejected whose signature
 * is wrong, and one has ended whose last instant has passed.
 */
export type ScheduleState = 'active' | 'new' | 'paused' | 'disabled' | 'other environment' | 'not in code' | StoredScheduleState

export interface ScheduleStatus {
  readonly schedule: string
  readonly state: ScheduleState
  readonly expression: string
  readonly timezone: string
  readonly job: string
  /** Its key where it was made at run time; null where the code has it. */
  readonly key: string | null
  /** Null where the job is not known here. */
  readonly limits: RunLimits | null
  readonly rules: RunRules | null
  /** The schedule in words; null where the code does not have it. */
  readonly text: string | null
  /** The last occurrence that was due. */
  readonly last: LastRun | null
  /** A repeat that has never run: its first run comes when a scheduler first sees it. */
  readonly beginsAtOnce: boolean
  readonly nextAt: string | null
}

export interface LastRun {
  readonly at: string
  readonly jobId: string
  /** How it ended, or how it stands while it has not. */
  readonly state: FinalState | 'waits' | 'running' | 'retrying'
  /** From when on it may begin, while it waits or is to be retried. */
  readonly runAt: string | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
}

/** What schedulers have recorded, and what the code says. `complete` is false when not all of the code is known. */
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

/** A stored one may be called by its key, or by its name. */
export function refuseUnknownSchedule(name: string, known: readonly Pick<ScheduleStatus, 'schedule' | 'key'>[]): void {
  if (known.some(({ schedule, key }) => schedule === name || key === name)) return
  const names = known.map(({ schedule, key }) => key ?? schedule)
  const near = nearest(name, names)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  const shown =
    names.length > mostNamed ? `${names.slice(0, mostNamed).join(', ')} and ${names.length - mostNamed} more` : names.join(', ')
  throw new TreadleError('SCHEDULE_UNKNOWN', `There is no schedule "${name}".${meant} Known: ${shown || 'none'}.`)
}

const mostNamed = 50

/** A schedule of the code, or one that is stored. */
export async function scheduleNamed(jobs: Treadle, name: string): Promise<Schedule> {
  const isCoded = jobs.definitions().some(({ job, fields }) => job === name && fields.schedule !== null)
  const stored = isCoded ? null : await jobs.schedules.get(name)
  return stored === null ? scheduleInCode(jobs, name) : scheduleOf(stored)
}

/** The schedule that the code gives to a job. */
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

/** The jobs of the last occurrences that have not ended: the occurrence itself tells only how it ended. */
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
  // What is stored was said by the code of its time, and counts as long as that is today's code.
  const isSame = record?.expression === schedule.expression && record.timezone === schedule.timezone
  const stored = isSame ? record.nextAt : null
  if (schedule.kind === 'repeat') return stored ?? followingOf(schedule, record?.last ?? null)
  // Later occurrences may be stored ahead of the next one.
  const next = schedule.next(now)
  return stored !== null && next !== null ? Math.min(stored, next) : next
}

/** When a repeat goes on after a run that has ended. */
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
  return { ...common, job: name, key: null, limits, rules: null, state, text: null, beginsAtOnce: false, nextAt: iso(nextAt) }
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

/** It may have ended since the occurrence was read. */
function progressOf(job: JobRecord): LastRun['state'] {
  if (job.state === 'running' || isFinal(job.state)) return job.state
  return job.attempts > 0 ? 'retrying' : 'waits'
}
