import type { Answer, Steps } from '../../core/answer.ts'
import type { Dialect } from './dialect.ts'
import type { ColumnName, TableName } from './rows/tables.ts'

/** A parameter of a statement. A list goes where the statement says `IN (?)`. */
export type SqlValue = string | number | null | readonly (string | number)[]

/** A row to write, by column name. */
export type SqlRow = Readonly<Record<string, string | number | null>>

/**
 * What the queue needs from a connection. Statements are written once for all engines: a value is `?`, a list of values is `IN
 * (?)`, and a table is `{jobs}`, which is replaced by its name with the chosen schema or prefix, or `{jobs by PRIMARY}` if it
 * must be read by that index. Whole numbers come back as numbers, whatever their size. If the database is a file, answers are
 * synchronous; from a server they are asynchronous.
 */
export interface SqlSession {
  readonly dialect: Dialect
  all<Row>(sql: string, values?: readonly SqlValue[]): Answer<Row[]>
  /** Returns the number of rows that the statement matched. */
  run(sql: string, values?: readonly SqlValue[]): Answer<number>
  /** One statement for all rows. A row that already exists (by any unique index) is an error. */
  insert<Table extends TableName>(table: Table, columns: readonly ColumnName<Table>[], rows: readonly SqlRow[]): Answer<void>
  /** Like `insert`, but leaves out rows that already exist. Returns the values of `key` of the rows that were written. */
  insertNew<Table extends TableName>(
    table: Table,
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
    key: ColumnName<Table>,
  ): Answer<ReadonlySet<string>>
  /** Inserts rows, or updates the columns in `changes` of rows that already exist by `keys`. */
  upsert<Table extends TableName>(
    table: Table,
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
    keys: readonly ColumnName<Table>[],
    changes: readonly ColumnName<Table>[],
  ): Answer<void>
  /** Sets `columns` of each row, found by `keys`, to its own values. */
  update<Table extends TableName>(
    table: Table,
    keys: readonly ColumnName<Table>[],
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
  ): Answer<void>
}

/** A database with any number of connections: each separate call is its own transaction. */
export interface SqlDatabase extends SqlSession, AsyncDisposable {
  /**
   * Runs `work` in one transaction on one connection, under READ COMMITTED. After a deadlock or a serialization failure it is
   * retried from the start, so `work` must keep nothing from an earlier attempt. The connection is the driver's own object.
   */
  transaction<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Answer<Value>
}
