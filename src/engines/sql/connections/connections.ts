import { isUnreachable, TreadleError } from '../../../core/errors.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import { formatDuration } from '../../../core/time/duration.ts'

/** What the queue needs from a driver's pool. */
export interface ConnectionPool<Connection> {
  acquire(): Promise<Connection>
  /** A broken connection is closed and not reused. */
  release(connection: Connection, isBroken: boolean): void
  end(): Promise<void>
}

export interface ConnectionsOptions<Connection> {
  readonly pool: ConnectionPool<Connection>
  /** Makes a replacement for the pool. Null for a pool supplied by the caller, which is used as it is and never closed. */
  readonly remake: (() => ConnectionPool<Connection>) | null
  readonly failure: (thrown: unknown) => TreadleError
  /** How long a call waits for a free connection. */
  readonly longestWaitMs: number
  /** The server no longer accepts writes: another one has taken over, or soon will. */
  readonly isDemoted: (thrown: unknown) => boolean
}

/** A caller that has already waited for a connection should not wait much longer to learn why there is none. */
const longestAskingMs = 2_000

/** Lends each connection to one call at a time, and closes those that broke in use. */
export class Connections<Connection> {
  readonly #options: ConnectionsOptions<Connection>
  #pool: ConnectionPool<Connection>
  #lent = 0
  #asking: Promise<TreadleError | null> | undefined

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
    // A driver may complain that it could not close a broken connection cleanly.
    if (this.#options.remake !== null) await this.#pool.end().catch(() => {})
  }

  #acquire(pool: ConnectionPool<Connection>): Promise<Connection> {
    return new Promise((resolve, reject) => {
      let isLate = false
      // Waiting for the network does not follow the queue's clock.
      const timer = systemClock.timer(this.#options.longestWaitMs, () => {
        isLate = true
        void this.#withoutConnection().then(reject)
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

  /**
   * If the queue's own pool has lent nothing, only the server can be the cause. Otherwise the cause may be slow statements, or a
   * server that no longer responds on any connection: a separate connection tells which.
   */
  async #withoutConnection(): Promise<TreadleError> {
    const { remake, longestWaitMs } = this.#options
    if (remake !== null && this.#lent === 0) return this.#silence()
    const unreachable = remake === null ? null : await this.#unreachable(remake)
    if (unreachable !== null) return unreachable
    const waited = formatDuration(longestWaitMs)
    const message = `No connection was free for ${waited}; ${this.#lent} are in use. Look for slow statements, or give the pool more connections.`
    return new TreadleError('DATABASE_BUSY', message)
  }

  #silence(): TreadleError {
    const waited = formatDuration(this.#options.longestWaitMs)
    const silence = `it did not answer a request for a connection within ${waited}. Check that it runs, and the network in between`
    return this.#options.failure(new Error(silence))
  }

  /** Asked once for all waiting callers. Null if the server responds, even if only to say that it has no connection left. */
  #unreachable(remake: () => ConnectionPool<Connection>): Promise<TreadleError | null> {
    this.#asking ??= this.#ask(remake()).finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(pool: ConnectionPool<Connection>): Promise<TreadleError | null> {
    const over = new AbortController()
    const silence = pause(systemClock, Math.min(this.#options.longestWaitMs, longestAskingMs), over.signal)
    const answer = pool.acquire().then(
      (connection) => {
        pool.release(connection, true)
        return null
      },
      (thrown) => {
        const failed = this.#options.failure(thrown)
        return isUnreachable(failed) ? failed : null
      },
    )
    const reason = await Promise.race([answer, silence.then(() => this.#silence())])
    over.abort()
    void pool.end().catch(() => {})
    return reason
  }

  /** All connections lead to the same server, so none of them is usable any more. */
  #replace(pool: ConnectionPool<Connection>): void {
    const { remake } = this.#options
    if (remake === null || this.#pool !== pool) return
    this.#pool = remake()
    void pool.end().catch(() => {})
  }
}
