import { type AdaptedTransaction, adapted, type RunStatement } from './caller-transaction.ts'

/** A transaction of Drizzle on PostgreSQL or MySQL. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>
}

/** The part of Drizzle's `sql` that statements are written with. */
export interface DrizzleSql {
  raw(text: string): unknown
  param(value: unknown): unknown
  join(chunks: never): unknown
}

/** A transaction of Drizzle, as the queue can join it. `sql` is the one that `drizzle-orm` exports. */
export function fromDrizzle(tx: DrizzleTransaction, sql: DrizzleSql): AdaptedTransaction {
  return fromStatements(async (text, values) => {
    const parts = values.length === 0 ? [text] : partsOf(text)
    const chunks = parts.map((part) => (typeof part === 'string' ? sql.raw(part) : sql.param(values[part])))
    return rowsOf(await tx.execute(sql.join(chunks as never) as never))
  })
}

/**
 * Any other transaction, by a function that runs one statement in it and gives its rows as objects: for PostgreSQL with `$1` for
 * the first value, for MySQL without values. Queries must not be changed on their way.
 */
export function fromStatements(run: RunStatement): AdaptedTransaction {
  return { [adapted]: () => ({ kind: 'statements', run }) }
}

/** Texts between values, and the places of values. */
function partsOf(text: string): readonly (string | number)[] {
  return text.split(/(\$\d+)/).map((part) => (/^\$\d+$/.test(part) ? Number(part.slice(1)) - 1 : part))
}

/** Drivers answer with rows, with a list of rows and their columns, or with an object that has rows. */
function rowsOf(answer: unknown): readonly unknown[] {
  if (!Array.isArray(answer)) return (answer as { readonly rows?: readonly unknown[] }).rows ?? []
  return Array.isArray(answer[0]) ? answer[0] : isReport(answer[0]) ? [] : answer
}

/** What `mysql2` says of a statement that gives no rows. */
function isReport(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'affectedRows' in value
}
