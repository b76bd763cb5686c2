import type { PlacedLogChunk } from '../../../queue/contract/stores/log-store.ts'
import type { SqlRow } from '../session.ts'
import type { ColumnName } from './tables.ts'

export interface LogRow {
  readonly job_id: string
  readonly first_line: number
  readonly last_line: number
  readonly attempt: number
  readonly bytes: number
  readonly body: string
}

export const logColumns = [
  'job_id',
  'first_line',
  'last_line',
  'attempt',
  'bytes',
  'body',
] as const satisfies readonly (ColumnName<'logs'> & keyof LogRow)[]

export function logChunkOf({ first_line, last_line, attempt, bytes, body }: LogRow): PlacedLogChunk {
  return { attempt, first: first_line, last: last_line, text: body, bytes }
}

export function logRowOf(job_id: string, { attempt, first, last, text, bytes }: PlacedLogChunk): LogRow & SqlRow {
  return { job_id, first_line: first, last_line: last, attempt, bytes, body: text }
}
