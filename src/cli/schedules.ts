import type { Treadle } from '../app/treadle.ts'
import type { FinalState, OccurrenceRecord, ScheduleRecord } from '../backends/store.ts'
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
  readonly nextAt: string | null
}

export interface LastRun {
  readonly at: string
  readonly jobId: string
  /** How it ended, or null while it has not. */
  readonly outcome: FinalState | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
}

/** What schedulers have recorded, and what the code says. `complete` is false when not all of the code is known. */
export async function readSchedules(jobs: Treadle, now: number, complete: boolean): Promise<readonly ScheduleStatus[]> {
  const records = new Map((await jobs.schedules.list()).map((record) => [record.name, record]))
  const coded = complete ? await codedSchedules(jobs, records, now) : []
  const names = new Set(coded.map(({ schedule }) => schedule))
  const others = [...records.values()].filter(({ name }) => !names.has(name))
  const all = [...coded, ...others.map((record) => recordedStatus(record, complete))]
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

async function codedSchedules(
  jobs: Treadle,
  records: ReadonlyMap<string, ScheduleRecord>,
  now: number,
): Promise<readonly ScheduleStatus[]> {
  const leftOut = new Map((await jobs.schedules.dryRun()).map((each) => [each.schedule, each.leftOut]))
  return jobs.definitions().flatMap(({ job, fields: { schedule } }) => {
    if (schedule === null) return []
    const record = records.get(job)
    const state = stateOf(leftOut.get(job) ?? null, record)
    return [codedStatus(job, schedule, state, record, now)]
  })
}

function stateOf(leftOut: DryRun['leftOut'], record: ScheduleRecord | undefined): ScheduleState {
  if (leftOut === null) return record === undefined ? 'new' : 'active'
  return leftOut === 'environment' ? 'other environment' : leftOut
}

function codedStatus(
  job: string,
  schedule: Schedule,
  state: ScheduleState,
  record: ScheduleRecord | undefined,
  now: number,
): ScheduleStatus {
  const { expression, timezone } = schedule
  return {
    schedule: job,
    state,
    expression,
    timezone,
    text: schedule.explain().text,
    last: lastRun(record?.last ?? null),
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

function recordedStatus(record: ScheduleRecord, complete: boolean): ScheduleStatus {
  const { name, expression, timezone, paused, last, nextAt } = record
  const state = complete ? 'not in code' : paused ? 'paused' : 'active'
  return { schedule: name, state, expression, timezone, text: null, last: lastRun(last), nextAt: iso(nextAt) }
}

function lastRun(last: OccurrenceRecord | null): LastRun | null {
  if (last === null) return null
  const { at, jobId, outcome, startedAt, finishedAt } = last
  return { at: new Date(at).toISOString(), jobId, outcome, startedAt: iso(startedAt), finishedAt: iso(finishedAt) }
}
