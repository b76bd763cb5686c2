/** A value of a SQL statement. */
export type SqlValue = null | number | bigint | string | Uint8Array

/**
 * A transaction on the database that the queue is in. It is synchronous, open only while the function runs that it was given to,
 * and commits or rolls back by itself.
 */
export interface SqlTransaction {
  run(sql: string, ...values: readonly SqlValue[]): { readonly changes: number | bigint }
  /** The first row, or undefined. */
  get(sql: string, ...values: readonly SqlValue[]): unknown
  all(sql: string, ...values: readonly SqlValue[]): unknown[]
}
