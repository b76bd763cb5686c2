import { type AdaptedTransaction, adapted, type RunStatement } from './caller-transaction.ts'

/** A Drizzle transaction on PostgreSQL or MySQL. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>
}

/** The part of Drizzle's `sql` that is used to write statements. */
export interface DrizzleSql {
  raw(text: string): unknown
  param(value: unknown): unknown
  join(chunks: never): unknown
}

/** Wraps a Drizzle transaction so that the queue can join it. `sql` is the one exported by `drizzle-orm`. */
export function fromDrizzle(tx: DrizzleTransaction, sql: DrizzleSql): AdaptedTransaction {
  return fromStatements(async (text, values) => {
    const parts = values.length === 0 ? [text] : partsOf(text)
    const chunks = parts.map((part) => (typeof part === 'string' ? sql.raw(part) : sql.param(values[part])))
    return rowsOf(await tx.execute(sql.join(chunks as never) as never))
  })
}

/**
 * Wraps any other transaction, given a function that runs one statement in it and returns its rows as objects. PostgreSQL
 * statements use `$1` for the first value; MySQL statements come without values. The function must not change the statements.
 */
export function fromStatements(run: RunStatement): AdaptedTransaction {
  return { [adapted]: () => ({ kind: 'statements', run }) }
}

/** The text between values, and the indexes of the values. */
function partsOf(text: string): readonly (string | number)[] {
  return text.split(/(\$\d+)/).map((part) => (/^\$\d+$/.test(part) ? Number(part.slice(1)) - 1 : part))
}

/** Drivers return rows, or rows together with their columns, or an object with a `rows` property. */
function rowsOf(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) return (answer as { readonly rows?: readonly unknown[] }).rows ?? []
  return Array.isArray(answer[0]) ? answer[0] : isReport(answer[0]) ? [] : answer
}

/** What `mysql2` returns for a statement without rows. */
function isReport(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'affectedRows' in value
}
