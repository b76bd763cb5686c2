import { atOnce, type Steps } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { Dialect } from '../../sql/dialect.ts'
import type { ColumnName, TableName } from '../../sql/rows/tables.ts'
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from '../../sql/session.ts'
import type { Connection } from './connection.ts'
import { SqliteSession } from './session.ts'

/** Whether what is written must be on disk before it is answered for. */
export type Durability = 'durable' | 'relaxed'

/** The queue's tables in an open file: every call by itself, or several of them in one transaction. All answers are there at once. */
export class FileDatabase implements SqlDatabase {
  readonly dialect: Dialect
  readonly session: SqliteSession
  readonly #connection: Connection
  #isOpen = false
  #transactions = 0
  #durability: Durability = 'durable'
  /** Why the transaction that is open cannot be kept. */
  #failure: { readonly thrown: unknown } | undefined

  constructor(connection: Connection) {
    this.#connection = connection
    this.session = new SqliteSession(connection)
    this.dialect = this.session.dialect
  }

  /** How many there were so far. */
  get transactions(): number {
    return this.#transactions
  }

  /** Does the work with transactions of this durability. */
  writing<Value>(durability: Durability, work: () => Value): Value {
    const before = this.#durability
    this.#durability = durability
    try {
      return work()
    } finally {
      this.#durability = before
    }
  }

  /** Does all of the work in one transaction. */
  unit<Value>(work: () => Value): Value {
    if (this.#isOpen) return this.#part(work)
    const begun = () => this.#begun(work)
    this.#transactions++
    return this.#durability === 'durable' ? this.#connection.transaction(begun) : this.#connection.relaxedTransaction(begun)
  }

  all<Row>(sql: string, values?: readonly SqlValue[]): Row[] {
    return this.#connection.read(() => this.session.all<Row>(sql, values))
  }

  run(sql: string, values?: readonly SqlValue[]): number {
    return this.unit(() => this.session.run(sql, values))
  }

  insert<Table extends TableName>(table: Table, columns: readonly ColumnName<Table>[], rows: readonly SqlRow[]): void {
    this.unit(() => this.session.insert(table, columns, rows))
  }

  insertNew<Table extends TableName>(
    table: Table,
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
    key: ColumnName<Table>,
  ): ReadonlySet<string> {
    return this.unit(() => this.session.insertNew(table, columns, rows, key))
  }

  upsert<Table extends TableName>(
    table: Table,
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
    keys: readonly ColumnName<Table>[],
    changes: readonly ColumnName<Table>[],
  ): void {
    this.unit(() => this.session.upsert(table, columns, rows, keys, changes))
  }

  update<Table extends TableName>(
    table: Table,
    keys: readonly ColumnName<Table>[],
    columns: readonly ColumnName<Table>[],
    rows: readonly SqlRow[],
  ): void {
    this.unit(() => this.session.update(table, keys, columns, rows))
  }

  transaction<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Value {
    return this.unit(() => done(work(this.session, null)))
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #begun<Value>(work: () => Value): Value {
    this.#isOpen = true
    this.#failure = undefined
    try {
      const answer = work()
      if (this.#failure !== undefined) throw (this.#failure as { readonly thrown: unknown }).thrown
      return answer
    } finally {
      this.#isOpen = false
    }
  }

  /** A part of what is one transaction already. What it wrote before it failed cannot be undone alone. */
  #part<Value>(work: () => Value): Value {
    const before = this.session.writes
    try {
      return work()
    } catch (thrown) {
      if (this.session.writes > before) this.#failure ??= { thrown }
      throw thrown
    }
  }
}

/** What steps come to that need not wait for anything. */
export function done<Value>(steps: Steps<Value>): Value {
  return atOnce(steps, () => new TreadleError('DATABASE_FAILED', 'Work on a SQLite file had to wait for an answer'))
}
