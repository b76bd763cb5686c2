import { type Answer, answerOf, type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import { type Clock, readTime } from '../../../core/time/clock.ts'
import type { JoinableTransaction, SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import { recognized } from '../../../definition/transactions/recognition.ts'
import type { JoinedQueue } from '../../../queue/contract/contract.ts'
import type { ChosenDriver } from '../file/driver-choice.ts'
import type { LocalEngine } from '../thread/engine.ts'
import { joiningEngine } from '../thread/open-engine.ts'
import { CommitWatch } from '../waking/commit-watch.ts'
import { asDatabase, refuseOtherCopy, refuseOtherFile, refuseOutside } from './callers-file.ts'
import { joinedFiles } from './joined-file.ts'

export interface JoiningOptions {
  readonly path: string
  readonly driver: ChosenDriver
  readonly clock: Clock
  readonly fastPaths: boolean
  /** Tells workers that there may be work. */
  readonly wake: () => void
  /** Throws if the path no longer refers to the queue's file, which the caller's connection has open too. */
  readonly checkFile: () => void
}

/** The queue inside transactions begun by callers: on their own connections to the file, or on the queue's. */
export class Joining {
  readonly #options: JoiningOptions
  /** One engine per connection, so that its statements are prepared only once. */
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
      settle: changing(within.settle),
    }
  }

  #engineOf(connection: SqliteConnection): LocalEngine {
    const known = this.#engines.get(connection)
    if (known !== undefined) return known
    const database = asDatabase(connection)
    refuseOtherFile(database, this.#options.path)
    refuseOtherCopy(connection, this.#options.driver)
    const engine = joiningEngine(database, this.#options.path, this.#options.fastPaths)
    this.#engines.set(connection, engine)
    return engine
  }

  #connectionOf(found: JoinableTransaction): SqliteConnection {
    if (found.kind === 'sqlite') return found.connection
    const what =
      found.kind === 'statements'
        ? 'can be joined only through the open file that it runs on: pass the Database of better-sqlite3, which is db.$client in Drizzle'
        : `is one of ${found.kind}`
    throw new TreadleError('TRANSACTION_INVALID', `The queue is in the file ${this.#options.path}, and this transaction ${what}`)
  }
}

/** A transaction that has only read so far may be unable to write any more, and waiting would not help. */
function unlessBusy<Done>(work: () => Done): Done {
  try {
    return work()
  } catch (thrown) {
    if (!(thrown instanceof TreadleError) || thrown.code !== 'DATABASE_BUSY') throw thrown
    const message = `${thrown.message} A transaction that reads before it writes cannot wait: begin it with BEGIN IMMEDIATE.`
    throw new TreadleError('DATABASE_BUSY', message, { cause: thrown.cause })
  }
}
