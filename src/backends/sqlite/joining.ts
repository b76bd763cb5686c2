import { type Answer, answerOf, type Steps, wait } from '../../core/answer.ts'
import type { Clock } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'
import type { JoinableTransaction, SqliteConnection } from '../../definition/transactions/caller-transaction.ts'
import { recognized } from '../../definition/transactions/recognition.ts'
import type { JoinedQueue } from '../contract.ts'
import { asDatabase, refuseOtherFile, refuseOutside } from './callers-file.ts'
import { CommitWatch } from './commit-watch.ts'
import type { LocalEngine } from './engine.ts'
import { JoinedFile, joinedFiles } from './joined-file.ts'
import { joiningEngine } from './open-engine.ts'

export interface JoiningOptions {
  readonly path: string
  readonly clock: Clock
  /** Tells workers that there may be something for them. */
  readonly wake: () => void
  /** Throws where the path does not name the queue's file any more: the caller's connection has the same one open. */
  readonly checkFile: () => void
}

/** The queue inside of transactions that others have begun: on connections of their own to the file, or on the queue's. */
export class Joining {
  readonly #options: JoiningOptions
  /** Its statements are prepared once for each connection. */
  readonly #engines = new WeakMap<SqliteConnection, LocalEngine>()
  readonly #watch: CommitWatch

  constructor(options: JoiningOptions) {
    this.#options = options
    this.#watch = new CommitWatch(options.wake)
  }

  join(tx: unknown): Answer<JoinedQueue> {
    const own = joinedFiles.get(Object(tx))
    return own ?? answerOf(this.#join(tx))
  }

  *#join(tx: unknown): Steps<JoinedQueue> {
    const connection = this.#connectionOf(yield* wait(recognized(tx)))
    this.#options.checkFile()
    refuseOutside(connection)
    const engine = this.#engineOf(connection)
    const changing = <Done>(work: (engine: LocalEngine) => Done): Done => {
      refuseOutside(connection)
      engine.forget()
      const done = unlessBusy(() => work(engine))
      this.#options.checkFile()
      this.#watch.follow(connection)
      return done
    }
    const parts = {
      send: (...args: Parameters<LocalEngine['send']>) => changing(({ send }) => send(...args)),
      get: (id: string) => engine.get(id),
      amend: (...args: Parameters<LocalEngine['amend']>) => changing(({ amend }) => amend(...args)),
      reject: (...args: Parameters<LocalEngine['reject']>) => changing(({ reject }) => reject(...args)),
      end: (...args: Parameters<LocalEngine['end']>) => changing(({ end }) => end(...args)),
    }
    return new JoinedFile(parts, () => this.#options.clock.now())
  }

  #engineOf(connection: SqliteConnection): LocalEngine {
    const known = this.#engines.get(connection)
    if (known !== undefined) return known
    const database = asDatabase(connection)
    refuseOtherFile(database, this.#options.path)
    const engine = joiningEngine(database, this.#options.path)
    this.#engines.set(connection, engine)
    return engine
  }

  #connectionOf(found: JoinableTransaction): SqliteConnection {
    if (found.kind === 'sqlite') return found.connection
    const what =
      found.kind === 'statements'
        ? 'can be joined only through the open file itself that it runs on: give the Database of better-sqlite3'
        : `is one of ${found.kind}`
    throw new TreadleError('TRANSACTION_INVALID', `The queue is in the file ${this.#options.path}, and this transaction ${what}`)
  }
}

/** A transaction that has only read so far may be too late to write, and then no wait would help. */
function unlessBusy<Done>(work: () => Done): Done {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof TreadleError) || thrown.code !== 'DATABASE_BUSY') throw thrown
    const message = `${thrown.message} A transaction that reads before it writes can not wait: begin it with BEGIN IMMEDIATE.`
    throw new TreadleError('DATABASE_BUSY', message, { cause: thrown.cause })
  }
}
