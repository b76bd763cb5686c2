import { atOnce, type Steps } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { ForwardingSession } from '../../sql/forwarding-session.ts'
import type { SqlDatabase, SqlSession, SqlValue } from '../../sql/session.ts'
import type { Connection } from './connection.ts'
import { SqliteSession } from './session.ts'

/** Whether writes must be on disk before they are acknowledged. */
export type Durability = 'durable' | 'relaxed'

/** The queue's tables in an open file. Calls run individually or together in one transaction, and all answers are synchronous. */
export class FileDatabase extends ForwardingSession implements SqlDatabase {
  readonly dialect: Dialect
  readonly session: SqliteSession
  readonly #connection: Connection
  #isOpen = false
  #transactions = 0
  #durability: Durability = 'durable'
  /** Why the open transaction has to be rolled back. */
  #failure: { readonly thrown: unknown } | undefined

  constructor(connection: Connection) {
    super()
    this.#connection = connection
    this.session = new SqliteSession(connection)
    this.dialect = this.session.dialect
  }

  /** Number of transactions so far. */
  get transactions(): number {
    return this.#transactions
  }

  /** Runs the work with transactions of this durability. */
  writing<Value>(durability: Durability, work: () => Value): Value {
    const before = this.#durability
    this.#durability = durability
    try {
      return work()
    } finally {
      this.#durability = before
    }
  }

  /** Runs all of the work in one transaction. */
  unit<Value>(work: () => Value): Value {
    if (this.#isOpen) return this.#part(work)
    const begun = () => this.#begun(work)
    this.#transactions++
    return this.#durability === 'durable' ? this.#connection.transaction(begun) : this.#connection.relaxedTransaction(begun)
  }

  override all<Row>(sql: string, values?: readonly SqlValue[]): Row[] {
    return this.#connection.read(() => this.session.all<Row>(sql, values))
  }

  transaction<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Value {
    return this.unit(() => done(work(this.session, null)))
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  protected runOne<Value>(work: (session: SqlSession) => Value): Value {
    return this.unit(() => work(this.session))
  }

  protected runSeveral<Value>(work: (session: SqlSession) => Value): Value {
    return this.runOne(work)
  }

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

  /** Runs inside the transaction that is already open. If it fails after a write, that write cannot be rolled back on its own. */
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

/** The result of steps that never wait. */
export function done<Value>(steps: Steps<Value>): Value {
  return atOnce(steps, () => new TreadleError('DATABASE_FAILED', 'Work on a SQLite file had to wait for an answer'))
}
