import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import { isUnreachable, TreadleError } from '../../../core/errors.ts'
import { type Clock, pause, systemClock } from '../../../core/time/clock.ts'
import type { Dialect } from '../dialect.ts'
import { ForwardingSession } from '../forwarding-session.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Connections } from './connections.ts'

/**
 * How the queue talks to an engine. A statement that exceeds the time limit fails, and its connection is closed; null means no
 * limit.
 */
export interface SqlEngine<Connection> {
  readonly dialect: Dialect
  /** Whether one statement can write any number of rows. */
  readonly writesAtOnce: boolean
  session(connection: Connection, longestMs: number | null): SqlSession
  /** Begins a transaction under READ COMMITTED. */
  begin(connection: Connection, longestMs: number | null): Promise<EngineTransaction>
  isTransient(thrown: unknown): boolean
  isDuplicate(thrown: unknown): boolean
  /** The statement that grants the user a missing privilege; null if none is missing, or if it is reported in another way. */
  missingGrant(session: SqlSession): Promise<string | null>
}

export interface EngineTransaction extends SqlSession {
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** The connection is the driver's own object. */
type TransactionWork<Value> = (session: SqlSession, connection: unknown) => Steps<Value>

/** A pool of connections to one database. */
export class PooledDatabase<Connection> extends ForwardingSession implements SqlDatabase {
  readonly dialect: Dialect
  readonly #connections: Connections<Connection>
  readonly #engine: SqlEngine<Connection>
  readonly #longestMs: number

  constructor(connections: Connections<Connection>, engine: SqlEngine<Connection>, longestMs: number) {
    super()
    this.dialect = engine.dialect
    this.#connections = connections
    this.#engine = engine
    this.#longestMs = longestMs
  }

  /** For statements that may take as long as they need. */
  patientTransaction<Value>(work: TransactionWork<Value>): Promise<Value> {
    return this.#inTransaction(work, null)
  }

  transaction<Value>(work: TransactionWork<Value>): Promise<Value> {
    return this.#inTransaction(work, this.#longestMs)
  }

  /** Like `transaction`, but does not retry if a row already exists. */
  attempt<Value>(work: TransactionWork<Value>): Promise<Value> {
    return this.#retrying(() => this.#once(work, this.#longestMs), this.#engine.isTransient)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections.close()
  }

  protected runOne<Value>(work: (session: SqlSession) => Answer<Value>): Promise<Value> {
    const { isTransient } = this.#engine
    return this.#retrying(
      () => this.#connections.with(async (connection) => work(this.#engine.session(connection, this.#longestMs))),
      isTransient,
    )
  }

  protected runSeveral<Value>(work: (session: SqlSession) => Answer<Value>): Promise<Value> {
    return this.#engine.writesAtOnce ? this.runOne(work) : this.attempt((session) => wait(work(session)))
  }

  #inTransaction<Value>(work: TransactionWork<Value>, longestMs: number | null): Promise<Value> {
    const { isTransient, isDuplicate } = this.#engine
    // A transaction that looked for a key and then found it taken lost a race. When it is retried, it sees the row that has the
    // key.
    return this.#retrying(
      () => this.#once(work, longestMs),
      (thrown) => isTransient(thrown) || isDuplicate(thrown),
    )
  }

  /** Another program holds the lock, so waiting for it does not follow the queue's clock. */
  async #retrying<Value>(work: () => Promise<Value>, isPassing: (thrown: unknown) => boolean): Promise<Value> {
    try {
      return await retrying(work, isPassing, systemClock)
    } catch (thrown) {
      throw await this.#explained(thrown)
    }
  }

  /** The same error, naming the missing privilege if that is the cause. */
  async #explained(thrown: unknown): Promise<unknown> {
    if (!(thrown instanceof TreadleError) || thrown.code !== 'DATABASE_DENIED') return thrown
    const asking = this.#connections.with((connection) =>
      this.#engine.missingGrant(this.#engine.session(connection, this.#longestMs)),
    )
    const grant = await asking.catch(() => null)
    if (grant === null) return thrown
    const message = `${thrown.message}. An administrator can run: ${grant}`
    return new TreadleError('DATABASE_DENIED', message, { cause: thrown.cause })
  }

  #once<Value>(work: TransactionWork<Value>, longestMs: number | null): Promise<Value> {
    return this.#connections.with(async (connection) => {
      const transaction = await this.#engine.begin(connection, longestMs)
      try {
        const answer = await answerOf(work(transaction, connection))
        await transaction.commit()
        return answer
      } catch (thrown) {
        // If the connection is gone, so is the transaction.
        if (!isUnreachable(thrown)) await transaction.rollback()
        throw thrown
      }
    })
  }
}

const mostTries = 12
const longestPauseMs = 200

/** Retries after a transient failure with increasing pauses, and eventually gives up. */
async function retrying<Answer>(
  work: () => Promise<Answer>,
  isTransient: (thrown: unknown) => boolean,
  clock: Clock,
): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (thrown) {
      if (tries === mostTries || !isTransient(thrown)) throw thrown
    }
    await pause(clock, clock.random() * Math.min(2 ** tries, longestPauseMs))
  }
}
