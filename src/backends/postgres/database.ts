import { systemClock } from '../../core/clock.ts'
import { retrying } from '../sql/retrying.ts'
import type { SqlDatabase, SqlSession } from '../sql/session.ts'
import type { PostgresClient, PostgresPool } from './client.ts'
import { isTransient, postgresFailure } from './failure.ts'
import { PostgresSession, type PostgresSessionOptions } from './session.ts'

/** A pool of connections to one database. */
export class PostgresDatabase extends PostgresSession implements SqlDatabase {
  readonly #pool: PostgresPool
  readonly #sessionOptions: PostgresSessionOptions
  readonly #ownsPool: boolean

  constructor(pool: PostgresPool, options: PostgresSessionOptions, ownsPool: boolean) {
    super(pool, options)
    this.#pool = pool
    this.#sessionOptions = options
    this.#ownsPool = ownsPool
  }

  transaction<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer> {
    // A lock is another program's, and its time is not the queue's clock.
    return retrying(() => this.#once(work), isTransient, systemClock)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ownsPool) await this.#pool.end()
  }

  async #once<Answer>(work: (session: SqlSession) => Promise<Answer>): Promise<Answer> {
    const client = await this.#connect()
    const session = new PostgresSession(client, this.#sessionOptions)
    try {
      await session.run('BEGIN ISOLATION LEVEL READ COMMITTED')
      const answer = await work(session)
      await session.run('COMMIT')
      client.release()
      return answer
    } catch (thrown) {
      await this.#undo(session, client)
      throw thrown
    }
  }

  async #connect(): Promise<PostgresClient> {
    try {
      return await this.#pool.connect()
    } catch (thrown) {
      throw postgresFailure(thrown)
    }
  }

  /** A connection that can not even roll back is closed and not used again. */
  async #undo(session: PostgresSession, client: PostgresClient): Promise<void> {
    try {
      await session.run('ROLLBACK')
      client.release()
    } catch (thrown) {
      client.release(thrown instanceof Error ? thrown : true)
    }
  }
}
