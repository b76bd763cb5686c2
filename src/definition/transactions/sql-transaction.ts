import type { AdaptedTransaction } from './caller-transaction.ts'

/** A value bound to a SQL statement. */
export type SqlValue = null | number | bigint | string | Uint8Array

/**
 * A transaction on the queue's SQLite file. It is synchronous, stays open only while the function it was passed to runs, and
 * commits or rolls back automatically.
 */
export interface SqlTransaction {
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number | bigint }
  /** Returns the first row, or undefined if there is none. */
  get(sql: string, ...values: readonly SqlValue[]): unknown
  all(sql: string, ...values: readonly SqlValue[]): unknown[]
}

/**
 * A transaction on the queue's database server; every statement must be awaited. Statements and values follow the driver: `$1`
 * for a value in PostgreSQL, `?` in MySQL.
 */
export interface AsyncSqlTransaction extends AdaptedTransaction {
  run(sql: string, ...values: readonly unknown[]): Promise<{ readonly changes: number }>
  /** Returns the first row, or undefined if there is none. */
  get(sql: string, ...values: readonly unknown[]): Promise<unknown>
  all(sql: string, ...values: readonly unknown[]): Promise<unknown[]>
  /** The driver's connection (a PoolClient of `pg` or a PoolConnection of `mysql2/promise`), for use with other libraries. */
  readonly client: unknown
}

/**
 * Has the methods of both kinds. The author of the handler knows which one it is and can annotate it: `ctx.transaction(async (tx:
 * AsyncSqlTransaction) => …)`.
 */
export type WorkTransaction = SqlTransaction & AsyncSqlTransaction
