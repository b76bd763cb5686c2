import type { AdaptedTransaction } from './caller-transaction.ts'

/** A value of a SQL statement. */
export type SqlValue = null | number | bigint | string | Uint8Array

/**
 * A transaction on the SQLite file that the queue is in. It is synchronous, open only while the function runs that it was given
 * to, and commits or rolls back by itself.
 */
export interface SqlTransaction {
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number | bigint }
  /** The first row, or undefined. */
  get(sql: string, ...values: readonly SqlValue[]): unknown
  all(sql: string, ...values: readonly SqlValue[]): unknown[]
}

/**
 * The same on a database server, where each statement is to be waited for. Statements and values are those of its driver: `$1`
 * for a value in PostgreSQL, `?` in MySQL.
 */
export interface AsyncSqlTransaction extends AdaptedTransaction {
  run(sql: string, ...values: readonly unknown[]): Promise<{ readonly changes: number }>
  /** The first row, or undefined. */
  get(sql: string, ...values: readonly unknown[]): Promise<unknown>
  all(sql: string, ...values: readonly unknown[]): Promise<unknown[]>
  /** The connection of the driver, a PoolClient of `pg` or a PoolConnection of `mysql2/promise`, for other libraries to work on. */
  readonly client: unknown
}

/** The author of the handler knows which of the two it is, and can say so: `ctx.transaction(async (tx: AsyncSqlTransaction) => …)`. */
export type WorkTransaction = SqlTransaction & AsyncSqlTransaction
