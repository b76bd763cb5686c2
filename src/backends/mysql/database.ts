import { systemClock } from '../../core/clock.ts'
import type { Dialect } from '../sql/dialect.ts'
import { retrying } from '../sql/retrying.ts'
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from '../sql/session.ts'
import type { TableName } from '../sql/tables.ts'
import type { MysqlConnection, MysqlPool } from './client.ts'
import { mysqlDialect } from './dialect.ts'
import { isDuplicate, isTransient, mysqlFailure } from './failure.ts'
import { MysqlSession, type MysqlSessionOptions } from './session.ts'
import { MysqlTransaction } from './transaction.ts'

export interface MysqlDatabaseOptions extends MysqlSessionOptions {
  /** The queue's own pool is closed with it, and its connections are READ COMMITTED by themselves. */
  readonly ownsPool: boolean
}

const begin = 'START TRANSACTION'
const readCommitted = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'

/** A pool of connections to one database. */
export class MysqlDatabase implements SqlDatabase {
  readonly dialect: Dialect = mysqlDialect
  readonly #pool: MysqlPool
  readonly #options: MysqlDatabaseOptions
  readonly #session: MysqlSession

  constructor(pool: MysqlPool, options: MysqlDatabaseOptions) {
    this.#pool = pool
    this.#options = options
    this.#session = new MysqlSession(pool, options)
  }

  all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#retrying(() => this.#session.all<Row>(sql, values))
  }

  run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return this.#retrying(() => this.#session.run(sql, values))
  }

  // Each of these may take more than one statement.

  insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    return this.attempt((session) => session.insert(table, columns, rows))
  }

  insertNew(table: TableName, columns: readonly string[], rows: readonly SqlRow[], key: string): Promise<ReadonlySet<string>> {
    return this.attempt((session) => session.insertNew(table, columns, rows, key))
  }

  upsert(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    keys: readonly string[],
    changes: readonly string[],
  ): Promise<void> {
    return this.attempt((session) => session.upsert(table, columns, rows, keys, changes))
  }

  update(table: TableName, keys: readonly string[], columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    return this.attempt((session) => session.update(table, keys, columns, rows))
  }

  /** As `transaction`, but a row that is there already is not tried again. */
  attempt<Answer>(work: (session: MysqlSession) => Promise<Answer>): Promise<Answer> {
    return this.#retrying(() => this.#once(work))
  }

  transaction<Answer>(work: (session: SqlSession, connection: unknown) => Promise<Answer>): Promise<Answer> {
    // Whoever looked for a key and then found it taken was overtaken, and sees the one that has it when it looks again.
    return this.#retrying(() => this.#once(work), isDuplicate)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#options.ownsPool) await this.#pool.end()
  }

  #retrying<Answer>(work: () => Promise<Answer>, isOvertaken: (thrown: unknown) => boolean = () => false): Promise<Answer> {
    // A lock is another program's, and its time is not the queue's clock.
    return retrying(work, (thrown) => isTransient(thrown) || isOvertaken(thrown), systemClock)
  }

  async #once<Answer>(work: (session: MysqlSession, connection: unknown) => Promise<Answer>): Promise<Answer> {
    const connection = await this.#connect()
    const transaction = new MysqlTransaction(connection, this.#options, this.#options.ownsPool ? [begin] : [readCommitted, begin])
    try {
      const answer = await work(transaction, connection)
      await transaction.commit()
      connection.release()
      return answer
    } catch (thrown) {
      await this.#undo(transaction, connection)
      throw thrown
    }
  }

  async #connect(): Promise<MysqlConnection> {
    try {
      return await this.#pool.getConnection()
    } catch (thrown) {
      throw mysqlFailure(thrown)
    }
  }

  /** A connection that can not even roll back is closed and not used again. */
  async #undo(transaction: MysqlTransaction, connection: MysqlConnection): Promise<void> {
    try {
      await transaction.rollback()
      connection.release()
    } catch {
      connection.destroy()
    }
  }
}
