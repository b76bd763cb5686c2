import type { Treadle } from '../app/treadle.ts'
import { type FinalState, isFinal } from '../backends/job-state.ts'
import type { OccurrenceRecord, ScheduleRecord } from '../backends/schedule-store.ts'
import type { JobRecord, JobStore } from '../backends/store.ts'
import { TreadleError } from '../core/errors.ts'
import { nearest } from '../core/options.ts'
import type { RepeatSchedule, Schedule } from '../scheduling/schedule.ts'
import type { DryRun } from '../worker/dry-run.ts'
import { iso } from './output/jobs.ts'

/** `new` is known from the code, and no scheduler has seen it yet. */
export type ScheduleState = 'active' | 'new' | 'paused' | 'disabled' | 'other environment' | 'not in code'

export interface ScheduleStatus {
  readonly schedule: string
  readonly state: ScheduleState
  readonly expression: string
  readonly timezone: string
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
  const all = [...coded, ...others.map((record) => recordedStatus(record, unended, complete))]
  return all.toSorted((a, b) => (a.schedule < b.schedule ? -1 : 1))
}

export function refuseUnknownSchedule(name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const near = nearest(name, known)
  const meant = near === undefined ? '' : ` Did you mean "${near}"?`
  throw new TreadleError('SCHEDULE_UNKNOWN', `There is no schedule "${name}".${meant} Known: ${known.join(', ') || 'none'}.`)
}

/** The schedule that the code gives to a job. */
export function scheduleInCode(jobs: Treadle, name: string): Schedule {
  const scheduled = new Map(jobs.definitions().flatMap(({ job, fields: { schedule } }) => (schedule ? [[job, schedule]] : [])))
  if (jobs.has(name) && !scheduled.has(name)) {
    throw new TreadleError('SCHEDULE_UNKNOWN', `The job "${name}" has no schedule: it runs only when it is sent.`)
  }
  refuseUnknownSchedule(name, [...scheduled.keys()])
  return scheduled.get(name) as Schedule
}

type Unended = ReadonlyMap<string, JobRecord>

interface Known {
  readonly records: ReadonlyMap<string, ScheduleRecord>
  readonly unended: Unended
  readonly now: number
}

/** The jobs of the last occurrences that have not ended: the occurrence itself tells only how it ended. */
async function unendedJobs(store: JobStore, records: readonly ScheduleRecord[]): Promise<Unended> {
  const ids = records.flatMap(({ last }) => (last !== null && last.outcome === null ? [last.jobId] : []))
  const found = await Promise.all(ids.map((id) => store.get(id)))
  return new Map(found.flatMap((job) => (job === null ? [] : [[job.id, job]])))
}

async function codedSchedules(jobs: Treadle, known: Known): Promise<readonly ScheduleStatus[]> {
  const leftOut = new Map((await jobs.schedules.dryRun()).map((each) => [each.schedule, each.leftOut]))
  return jobs.definitions().flatMap(({ job, fields: { schedule } }) => {
    if (schedule === null) return []
    return [codedStatus(job, schedule, leftOut.get(job) ?? null, known)]
  })
}

function stateOf(leftOut: DryRun['leftOut'], record: ScheduleRecord | undefined): ScheduleState {
  if (leftOut === null) return record === undefined ? 'new' : 'active'
  return leftOut === 'environment' ? 'other environment' : leftOut
}

function codedStatus(
  job: string,
  schedule: Schedule,
  leftOut: DryRun['leftOut'],
  { records, unended, now }: Known,
): ScheduleStatus {
  const { expression, timezone } = schedule
  const record = records.get(job)
  const state = stateOf(leftOut, record)
  return {
    schedule: job,
    state,
    expression,
    timezone,
    text: schedule.explain().text,
    last: lastRun(record?.last ?? null, unended),
    beginsAtOnce: schedule.kind === 'repeat' && record?.last == null && record?.nextAt == null,
    nextAt: state === 'active' || state === 'new' ? iso(nextOf(schedule, record, now)) : null,
  }
}

function nextOf(schedule: Schedule, record: ScheduleRecord | undefined, now: number): number | null {
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

function recordedStatus(record: ScheduleRecord, unended: Unended, complete: boolean): ScheduleStatus {
  const { name, expression, timezone, paused, nextAt } = record
  const state = complete ? 'not in code' : paused ? 'paused' : 'active'
  const last = lastRun(record.last, unended)
  return { schedule: name, state, expression, timezone, text: null, last, beginsAtOnce: false, nextAt: iso(nextAt) }
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
