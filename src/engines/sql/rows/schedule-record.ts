import type { OccurrenceRecord, StoredDefinition } from '../../../queue/contract/schedule-store.ts'
import type { MovedOccurrence } from '../../../queue/contract/transfer.ts'
import { readOutcome, readTime } from '../../../queue/model/spoilt.ts'
import { StoredOccurrence } from '../../../queue/rules/schedules/timeline.ts'
import type { SqlRow } from '../session.ts'
import { type ColumnName, stateNumber } from './tables.ts'

/** An occurrence's row. */
export interface OccurrenceRow {
  readonly schedule: string
  readonly at: number
  readonly job_id: string
  readonly stored_at: number
  readonly outcome: number | null
  readonly started_at: number | null
  readonly finished_at: number | null
}

export const occurrenceColumns = [
  'schedule',
  'at',
  'job_id',
  'outcome',
  'started_at',
  'finished_at',
  'stored_at',
] as const satisfies readonly (ColumnName<'occurrences'> & keyof OccurrenceRow)[]

/** The row of an occurrence that was joined to something else, all null if there is none. */
export type JoinedOccurrence = OccurrenceRow | { readonly [Column in keyof OccurrenceRow]: null }

/** Null if it was not found, or if its time cannot be read. */
export function recordOf(row: JoinedOccurrence | undefined): OccurrenceRecord | null {
  return row === undefined || row.schedule === null || readTime(row.at) === null ? null : storedOccurrence(row).record()
}

/** An occurrence in the form that the rules use. */
export function storedOccurrence({ schedule, at, job_id, stored_at, ...row }: OccurrenceRow): StoredOccurrence {
  return new StoredOccurrence({
    ...{ schedule, at, jobId: job_id, storedAt: readTime(stored_at) ?? at, outcome: readOutcome(row.outcome) },
    ...{ startedAt: readTime(row.started_at), finishedAt: readTime(row.finished_at) },
  })
}

export function occurrenceRowOf(occurrence: MovedOccurrence): OccurrenceRow & SqlRow {
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
