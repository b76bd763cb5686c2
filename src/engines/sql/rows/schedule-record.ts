import type { OccurrenceRecord, StoredDefinition } from '../../../queue/contract/schedule-store.ts'
import type { MovedOccurrence } from '../../../queue/contract/transfer.ts'
import { readOutcome, readTime } from '../../../queue/model/spoilt.ts'
import { StoredOccurrence } from '../../../queue/rules/schedules/timeline.ts'
import type { SqlRow } from '../session.ts'
import { type ColumnName, stateNumber } from './tables.ts'

/** An occurrence's row; all null if it was not found. */
export interface OccurrenceRow {
  readonly schedule: string | null
  readonly at: number
  readonly job_id: string
  readonly outcome: number | null
  readonly started_at: number | null
  readonly finished_at: number | null
}

const columns = [
  'schedule',
  'at',
  'job_id',
  'outcome',
  'started_at',
  'finished_at',
] as const satisfies readonly (ColumnName<'occurrences'> & keyof OccurrenceRow)[]

/** The columns of `OccurrenceRow`. */
export function occurrenceColumns(table: string): string {
  return columns.map((column) => `${table}.${column}`).join(', ')
}

export function occurrenceOf({ schedule, at, job_id, outcome, started_at, finished_at }: OccurrenceRow): OccurrenceRecord | null {
  if (schedule === null || readTime(at) === null) return null
  return {
    schedule,
    at,
    jobId: job_id,
    outcome: readOutcome(outcome),
    startedAt: readTime(started_at),
    finishedAt: readTime(finished_at),
  }
}

/** The row of an occurrence that exists, with all its columns. */
export interface StoredOccurrenceRow extends OccurrenceRow {
  readonly schedule: string
  readonly stored_at: number
}

export const storedOccurrenceColumns = [...columns, 'stored_at'] as const satisfies readonly (ColumnName<'occurrences'> &
  keyof StoredOccurrenceRow)[]

/** An occurrence in the form that the rules use. */
export function storedOccurrence({ schedule, at, job_id, stored_at, ...row }: StoredOccurrenceRow): StoredOccurrence {
  return new StoredOccurrence({
    ...{ schedule, at, jobId: job_id, storedAt: readTime(stored_at) ?? at, outcome: readOutcome(row.outcome) },
    ...{ startedAt: readTime(row.started_at), finishedAt: readTime(row.finished_at) },
  })
}

export function occurrenceRowOf(occurrence: MovedOccurrence): StoredOccurrenceRow & SqlRow {
  const { schedule, at, jobId, storedAt, outcome, startedAt, finishedAt } = occurrence
  const end = outcome === null ? null : stateNumber[outcome]
  return { schedule, at, job_id: jobId, stored_at: storedAt, outcome: end, started_at: startedAt, finished_at: finishedAt }
}

/** The definition of a schedule that was created at run time; null if the schedule is defined in code. */
export interface DefinitionRow {
  readonly definition: string | null
  readonly signature: string | null
}

export function definitionOf({ definition, signature }: DefinitionRow): StoredDefinition | null {
  return definition === null ? null : { text: definition, signature }
}
