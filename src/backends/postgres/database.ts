import { systemClock } from '../../core/clock.ts'
import type { Dialect } from '../sql/dialect.ts'
import { isUnreachable } from '../sql/repeating.ts'
import { retrying } from '../sql/retrying.ts'
import type { SqlDatabase, SqlRow, SqlSession, SqlValue } from '../sql/session.ts'
import type { TableName } from '../sql/tables.ts'
import type { PostgresClient, PostgresPool } from './client.ts'
import { postgresDialect } from './dialect.ts'
import { isDuplicate, isTransient, postgresFailure } from './failure.ts'
import { PostgresSession, type PostgresSessionOptions } from './session.ts'

/** A pool of connections to one database. */
export class PostgresDatabase implements SqlDatabase {
  readonly dialect: Dialect = postgresDialect
  readonly #pool: PostgresPool
  readonly #options: PostgresSessionOptions
  readonly #ownsPool: boolean
  readonly #session: PostgresSession

  constructor(pool: PostgresPool, options: PostgresSessionOptions, ownsPool: boolean) {
    this.#pool = pool
    this.#options = options
    this.#ownsPool = ownsPool
    this.#session = new PostgresSession(pool, options)
  }

  all<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#retrying(() => this.#session.all<Row>(sql, values))
  }

  run(sql: string, values: readonly SqlValue[] = []): Promise<number> {
    return this.#retrying(() => this.#session.run(sql, values))
  }

  insert(table: TableName, columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    return this.#retrying(() => this.#session.insert(table, columns, rows))
  }

  insertNew(table: TableName, columns: readonly string[], rows: readonly SqlRow[], key: string): Promise<ReadonlySet<string>> {
    return this.#retrying(() => this.#session.insertNew(table, columns, rows, key))
  }

  upsert(
    table: TableName,
    columns: readonly string[],
    rows: readonly SqlRow[],
    keys: readonly string[],
    changes: readonly string[],
  ): Promise<void> {
    return this.#retrying(() => this.#session.upsert(table, columns, rows, keys, changes))
  }

  update(table: TableName, keys: readonly string[], columns: readonly string[], rows: readonly SqlRow[]): Promise<void> {
    return this.#retrying(() => this.#session.update(table, keys, columns, rows))
  }

  transaction<Answer>(work: (session: SqlSession, connection: unknown) => Promise<Answer>): Promise<Answer> {
    // Whoever looked for a key and then found it taken was overtaken, and sees the one that has it when it looks again.
    return this.#retrying(() => this.#once(work), isDuplicate)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ownsPool) await this.#pool.end()
  }

  #retrying<Answer>(work: () => Promise<Answer>, isOvertaken: (thrown: unknown) => boolean = () => false): Promise<Answer> {
    // A lock is another program's, and its time is not the queue's clock.
    return retrying(work, (thrown) => isTransient(thrown) || isOvertaken(thrown), systemClock)
  }

  async #once<Answer>(work: (session: SqlSession, connection: unknown) => Promise<Answer>): Promise<Answer> {
    const client = await this.#connect()
    const session = new PostgresSession(client, this.#options)
    let failure: unknown
    try {
      await session.run('BEGIN ISOLATION LEVEL READ COMMITTED')
      const answer = await work(session, client)
      await session.run('COMMIT')
      return answer
    } catch (thrown) {
      failure = (await this.#undo(session, thrown)) ? undefined : thrown
      throw thrown
    } finally {
      client.removeListener('error', ignore)
      client.release(failure !== undefined)
    }
  }

  async #connect(): Promise<PostgresClient> {
    try {
      const client = await this.#pool.connect()
      // A connection that breaks between two statements says so to whoever listens, and ends the program where nobody does.
      client.on('error', ignore)
      return client
    } catch (thrown) {
      throw postgresFailure(thrown)
    }
  }

  /** False for a connection that can not even roll back: it is closed and not used again. */
  async #undo(session: PostgresSession, thrown: unknown): Promise<boolean> {
    if (isUnreachable(thrown)) return false
    try {
      await session.run('ROLLBACK')
      return true
    } catch {
      return false
    }
  }
}

/** The next statement on the connection fails with the same error. */
function ignore(): void {}
