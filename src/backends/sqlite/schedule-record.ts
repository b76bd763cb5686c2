import type { OccurrenceRecord, ScheduleRecord, ScheduleStanding } from '../schedule-store.ts'
import { readOutcome, readTime } from '../spoilt.ts'
import { withoutBlob } from './without-blob.ts'

/*
 * Schedules and occurrences are asked for by the thousands. One text of arrays, written by SQLite, crosses from the database's
 * thread at a fraction of the cost of as many rows.
 */

/** Schedule, instant, job id, outcome, started at, finished at; all null where there is no such occurrence. */
type OccurrenceFields = readonly [string | null, number, string, number | null, number | null, number | null]

/** Name, version, since, whether it is paused, its latest occurrence. */
type StandingFields = readonly [string, string, number, number, OccurrenceFields]

/** Name, version, since, whether it is paused, its last occurrence, expression, time zone, next instant. */
type ListedFields = readonly [...StandingFields, string, string, number | null]

/** The SQL that makes an occurrence's fields of its row. */
export function occurrenceFields(table: string): string {
  const columns = ['schedule', 'at', 'job_id', 'outcome', 'started_at', 'finished_at']
  return `json_array(${columns.map((column) => withoutBlob(`${table}.${column}`)).join(', ')})`
}

export function readOccurrences(json: string): readonly (OccurrenceRecord | null)[] {
  return (JSON.parse(json) as OccurrenceFields[]).map(occurrenceOf)
}

export function readStandings(json: string): readonly ScheduleStanding[] {
  const standings = JSON.parse(json) as StandingFields[]
  return standings.map(([name, version, since, paused, latest]) => ({
    name,
    version,
    since,
    paused: paused === 1,
    latest: occurrenceOf(latest),
  }))
}

export function readSchedules(json: string): readonly ScheduleRecord[] {
  return (JSON.parse(json) as ListedFields[]).map(([name, version, since, paused, last, expression, timezone, nextAt]) => ({
    name,
    expression,
    timezone,
    version,
    since,
    paused: paused === 1,
    last: occurrenceOf(last),
    nextAt,
  }))
}

function occurrenceOf([schedule, at, jobId, outcome, startedAt, finishedAt]: OccurrenceFields): OccurrenceRecord | null {
  if (schedule === null || readTime(at) === null) return null
  const times = { startedAt: readTime(startedAt), finishedAt: readTime(finishedAt) }
  return { schedule, at, jobId, outcome: readOutcome(outcome), ...times }
}
