import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlRow, SqlSession } from '../session.ts'
import type { ColumnName } from './tables.ts'

/** Changes to rows, by id. */
export type Changes = Map<string, Readonly<Record<string, string | number | null>>>

/** Rows that change in the same columns are written together. `key`: the column by which they are named. */
export function* writeChanges<Table extends 'jobs' | 'links' | 'occurrences'>(
  session: SqlSession,
  table: Table,
  changes: Changes,
  key: 'id' | 'job_id' = 'id',
): Steps<void> {
  const byColumns = new Map<string, { readonly columns: ColumnName<Table>[]; readonly rows: SqlRow[] }>()
  for (const [name, change] of changes) {
    const columns = Object.keys(change).sort() as ColumnName<Table>[]
    const text = columns.join()
    const together = byColumns.get(text) ?? { columns, rows: [] }
    together.rows.push({ [key]: name, ...change })
    byColumns.set(text, together)
  }
  for (const { columns, rows } of byColumns.values())
    yield* wait(session.update(table, [key as ColumnName<Table>], columns, rows))
}
