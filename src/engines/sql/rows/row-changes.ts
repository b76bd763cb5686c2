import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlRow, SqlSession } from '../session.ts'
import type { ColumnName } from './tables.ts'

/** Changes to rows, by id. */
export type Changes = Map<string, Readonly<Record<string, string | number | null>>>

export function noteChange(changes: Changes, id: string, change: Readonly<Record<string, string | number | null>>): void {
  changes.set(id, { ...changes.get(id), ...change })
}

/** Rows that change in the same columns are written together. */
export function* writeChanges<Table extends 'jobs' | 'links'>(session: SqlSession, table: Table, changes: Changes): Steps<void> {
  const byColumns = new Map<string, { readonly columns: ColumnName<Table>[]; readonly rows: SqlRow[] }>()
  for (const [id, change] of changes) {
    const columns = Object.keys(change).sort() as ColumnName<Table>[]
    const key = columns.join()
    const together = byColumns.get(key) ?? { columns, rows: [] }
    together.rows.push({ id, ...change })
    byColumns.set(key, together)
  }
  for (const { columns, rows } of byColumns.values())
    yield* wait(session.update(table, ['id' as ColumnName<Table>], columns, rows))
}
