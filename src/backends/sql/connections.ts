import { systemClock } from '../../core/clock.ts'
import { formatDuration } from '../../core/duration.ts'
import { TreadleError } from '../../core/errors.ts'
import { isUnreachable } from './repeating.ts'

/** What is needed of a driver's pool. */
export interface ConnectionPool<Connection> {
  acquire(): Promise<Connection>
  /** A connection that is broken is closed and not lent again. */
  release(connection: Connection, isBroken: boolean): void
  end(): Promise<void>
}

export interface ConnectionsOptions<Connection> {
  readonly pool: ConnectionPool<Connection>
  /** Makes another one in its place. Null for a pool that somebody else made: it is used as it is, and not closed. */
  readonly remake: (() => ConnectionPool<Connection>) | null
  readonly failure: (thrown: unknown) => TreadleError
  /** How long a call waits for a free connection. */
  readonly longestWaitMs: number
  /** The server no longer takes writes: another one has its place by now, or will soon. */
  readonly isDemoted: (thrown: unknown) => boolean
}

/** Lends connections to one call each, and closes those that broke meanwhile. */
export class Connections<Connection> {
  readonly #options: ConnectionsOptions<Connection>
  #pool: ConnectionPool<Connection>
  #lent = 0

  constructor(options: ConnectionsOptions<Connection>) {
    this.#options = options
    this.#pool = options.pool
  }

  async with<Answer>(work: (connection: Connection) => Promise<Answer>): Promise<Answer> {
    const pool = this.#pool
    const connection = await this.#acquire(pool)
    let isBroken = false
    this.#lent++
    try {
      return await work(connection)
    } catch (thrown) {
      isBroken = isUnreachable(thrown)
      if (this.#options.isDemoted(thrown)) this.#replace(pool)
      throw thrown
    } finally {
      this.#lent--
      pool.release(connection, isBroken)
    }
  }

  async close(): Promise<void> {
    if (this.#options.remake !== null) await this.#pool.end()
  }

  #acquire(pool: ConnectionPool<Connection>): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let isLate = false
      // The network's time is not the queue's clock.
      const timer = systemClock.timer(this.#options.longestWaitMs, () => {
        isLate = true
        reject(this.#withoutConnection())
      })
      pool.acquire().then(
        (connection) => {
          timer.cancel()
          if (isLate) pool.release(connection, false)
          else resolve(connection)
        },
        (thrown) => {
          timer.cancel()
          reject(this.#options.failure(thrown))
        },
      )
    })
  }

  /** A pool of the queue's own that has lent nothing waits for the server alone. */
  #withoutConnection(): TreadleError {
    const { remake, longestWaitMs, failure } = this.#options
    const waited = formatDuration(longestWaitMs)
    if (remake !== null && this.#lent === 0) {
      const silence = `it was asked for a connection and said nothing for ${waited}. Check that it runs, and what lies between`
      return failure(new Error(silence))
    }
    const message = `No connection was free for ${waited}; ${this.#lent} are at work. Look for slow statements, or give the pool more connections.`
    return new TreadleError('DATABASE_BUSY', message)
  }

  /** All connections lead to the same server, so none of them is of use any more. */
  #replace(pool: ConnectionPool<Connection>): void {
    const { remake } = this.#options
    if (remake === null || this.#pool !== pool) return
    this.#pool = remake()
    void pool.end().catch(() => {})
  }
}
