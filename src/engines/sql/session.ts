import type { Answer, Steps } from '../../core/answer.ts'
import type { Dialect } from './dialect.ts'
import type { ColumnName, TableName } from './rows/tables.ts'

/** A value of a statement. A list stands where the statement says `IN (?)`. */
export type SqlValue = string | number | null | readonly (string | number)[]

/** One row to be written, by the names of its columns. */
export type SqlRow = Readonly<Record<string, string | number | null>>

/**
 * What the queue needs of a connection. Statements are written once for all engines: a value is a `?`, a list of values is
 * `IN (?)`, and a table is `{jobs}`, which becomes its name with the schema or prefix that was chosen, or `{jobs by PRIMARY}` where it
 * must be read by that index. Whole numbers come back as numbers, whatever their size. Where the database is a file, answers are there
 * at once; from a server they come later.
 */
export interface SqlSession {
  readonly dialect: Dialect
  all<Row>(sql: string, values?: readonly SqlValue[]): Answer<Row[]>
  /** Gives the number of rows that the statement found. */
  run(sql: string, values?: readonly SqlValue[]): Answer<number>
  /** One statement for all rows. A row that is there already (by any unique index) is an error. */
  insert<Table extends TableName>(table: Table, columns: readonly ColumnName<Table>[], rows: readonly SqlRow[]): Answer<void>
  /** As `insert`, but leaves out rows that are there already. Gives the values of `key` of those that were written. */
  insertNew<Table extends TableName>(
    table: Table,
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
    key: ColumnName<Table>,
  ): Answer<ReadonlySet<string>>
  /** Inserts rows, or gives those that are there by `keys` the values of these `changes`. */
  upsert<Table extends TableName>(
    table: Table,
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
    keys: readonly ColumnName<Table>[],
    changes: readonly ColumnName<Table>[],
  ): Answer<void>
  /** Gives each row, found by `keys`, its own values of `columns`. */
  update<Table extends TableName>(
    table: Table,
    keys: readonly ColumnName<Table>[],
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
  ): Answer<void>
}

/** A database with any number of connections: each call by itself is a transaction of its own. */
export interface SqlDatabase extends SqlSession, AsyncDisposable {
  /**
   * Runs `work` in one transaction on one connection, under READ COMMITTED. A deadlock or a serialization failure is tried again
   * from the start, so `work` must keep nothing of an earlier try. The connection is the driver's own.
   */
  transaction<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Answer<Value>
}
