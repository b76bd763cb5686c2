import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { Dialect } from '../dialect.ts'
import { ForwardingSession } from '../forwarding-session.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/**
 * A caller's transaction, used as a database: each call, or each transaction, is a part of it that is kept or rolled back as a
 * whole. So a failure of the queue does not end the caller's transaction. Without savepoints, only the caller can roll it back,
 * with everything else.
 */
export class JoinedDatabase extends ForwardingSession implements SqlDatabase {
  readonly dialect: Dialect
  readonly #session: SqlSession
  /** How deeply parts are nested. MySQL drops a savepoint when another one gets the same name. */
  #depth = 0

  constructor(session: SqlSession) {
    super()
    this.dialect = session.dialect
    this.#session = session
  }

  /** Nothing is retried: only the caller can redo what a deadlock has rolled back. */
  transaction<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Answer<Value> {
    return answerOf(this.#inSavepoint(work))
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  protected runOne<Value>(work: (session: SqlSession) => Answer<Value>): Answer<Value> {
    return this.transaction((session) => wait(work(session)))
  }

  protected runSeveral<Value>(work: (session: SqlSession) => Answer<Value>): Answer<Value> {
    return this.runOne(work)
  }

  *#inSavepoint<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Steps<Value> {
    const savepoint = `treadle_joined_${++this.#depth}`
    try {
      const canUndo = yield* this.#begin(savepoint)
      return canUndo ? yield* this.#part(savepoint, work) : yield* this.#unsaved(work)
    } finally {
      this.#depth--
    }
  }

  /**
   * Outside of a transaction, PostgreSQL rejects the first of these statements and MySQL forgets it at once. False if the
   * caller's client cannot set savepoints.
   */
  *#begin(savepoint: string): Steps<boolean> {
    try {
      yield* wait(this.#session.run(`SAVEPOINT ${savepoint}`))
      if (this.dialect.kind === 'mysql') yield* wait(this.#session.run(`ROLLBACK TO SAVEPOINT ${savepoint}`))
      return true
    } catch (cause) {
      if (this.dialect.isUnprepared(cause)) return false
      if (cause instanceof TreadleError && cause.code === 'TRANSACTION_INVALID') throw cause
      const message =
        'The connection is in no transaction that could be joined: it has not begun, was ended, or a statement in it has failed. Check that every dispatch in it has `await`'
      throw new TreadleError('TRANSACTION_INVALID', message, { cause })
    }
  }

  *#part<Value>(savepoint: string, work: (session: SqlSession, connection: unknown) => Steps<Value>): Steps<Value> {
    try {
      const answer = yield* work(this.#session, null)
      yield* wait(this.#session.run(`RELEASE SAVEPOINT ${savepoint}`))
      return answer
    } catch (thrown) {
      yield* this.#undo(savepoint)
      throw thrown
    }
  }

  *#unsaved<Value>(work: (session: SqlSession, connection: unknown) => Steps<Value>): Steps<Value> {
    try {
      return yield* work(this.#session, null)
    } catch (thrown) {
      if (!(thrown instanceof TreadleError) || this.#depth > 1) throw thrown
      const message = `${thrown.message}. It cannot be undone alone, because this client sets no savepoints: roll the transaction back.`
      throw new TreadleError(thrown.code, message, { cause: thrown.cause })
    }
  }

  *#undo(savepoint: string): Steps<void> {
    try {
      yield* wait(this.#session.run(`ROLLBACK TO SAVEPOINT ${savepoint}`))
      yield* wait(this.#session.run(`RELEASE SAVEPOINT ${savepoint}`))
    } catch {
      // A deadlock or a lost connection has ended the whole transaction; the original error matters.
    }
  }
}
