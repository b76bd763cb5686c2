import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import { type Clock, readTime } from '../../../core/time/clock.ts'
import type { JoinableTransaction, SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import { recognized } from '../../../definition/transactions/recognition.ts'
import type { JoinedQueue } from '../../../queue/contract/contract.ts'
import type { LocalEngine } from '../thread/engine.ts'
import { joiningEngine } from '../thread/open-engine.ts'
import { CommitWatch } from '../waking/commit-watch.ts'
import { asDatabase, refuseOtherFile, refuseOutside } from './callers-file.ts'
import { joinedFiles } from './joined-file.ts'

export interface JoiningOptions {
  readonly path: string
  readonly clock: Clock
  readonly fastPaths: boolean
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
    const within = engine.within(() => readTime(this.#options.clock))
    const changing = <Args extends readonly unknown[], Done>(work: (...args: Args) => Done) => {
      return (...args: Args): Done => {
        refuseOutside(connection)
        engine.forget()
        const done = unlessBusy(() => work(...args))
        this.#options.checkFile()
        this.#watch.follow(connection)
        return done
      }
    }
    return {
      send: changing(within.send),
      get: (id) => within.get(id),
      amend: changing(within.amend),
      reject: changing(within.reject),
      settle: changing(within.settle),
    }
  }

  #engineOf(connection: SqliteConnection): LocalEngine {
    const known = this.#engines.get(connection)
    if (known !== undefined) return known
    const database = asDatabase(connection)
    refuseOtherFile(database, this.#options.path)
    const engine = joiningEngine(database, this.#options.path, this.#options.fastPaths)
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
    const message = `${thrown.message} A transaction that reads before it writes cannot wait: begin it with BEGIN IMMEDIATE.`
    throw new TreadleError('DATABASE_BUSY', message, { cause: thrown.cause })
  }
}
