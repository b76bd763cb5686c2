import type { OccurrenceRecord, StoredDefinition } from '../../../queue/contract/schedule-store.ts'
import { readOutcome, readTime } from '../../../queue/model/spoilt.ts'
import type { ColumnName } from './tables.ts'

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

/** The definition of a schedule that was created at run time; null if the schedule is defined in code. */
export interface DefinitionRow {
  readonly definition: string | null
  readonly signature: string | null
}

export function definitionOf({ definition, signature }: DefinitionRow): StoredDefinition | null {
  return definition === null ? null : { text: definition, signature }
}
