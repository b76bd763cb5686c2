import { type Answer, type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { LoadedJobs, type LoadedJobsParts } from '../rows/loaded-jobs.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/** What only one transaction at a time does: claims under limits, changes to links, and writing rollups. */
export type Mutex = 'claims' | 'links' | 'rollups'

/** Transactions on jobs that are locked, changed and written together. */
export class Transactions {
  readonly #database: SqlDatabase
  readonly #parts: LoadedJobsParts
  #expectsLinks = false

  constructor(database: SqlDatabase, parts: LoadedJobsParts) {
    this.#database = database
    this.#parts = parts
  }

  /**
   * Locks these jobs, runs `work` to change them, and writes the changes. Only one transaction at a time changes jobs that are
   * part of a workflow.
   */
  *withJobs<Value>(ids: readonly string[], time: QueueTime, work: (hand: LoadedJobs) => Steps<Value>): Steps<Value> {
    try {
      return yield* wait(this.#attempt(ids, time, work, this.#expectsLinks || this.#database.dialect.isAlone === true))
    } catch (thrown) {
      if (!(thrown instanceof LinksMet)) throw thrown
    }
    return yield* wait(this.#attempt(ids, time, work, true))
  }

  /** Like `withJobs`, for changes that need no further queries. */
  changeJobs<Value>(ids: readonly string[], time: QueueTime, change: (hand: LoadedJobs) => Value): Steps<Value> {
    return this.withJobs(ids, time, (hand) => wait(change(hand)))
  }

  /** Like `withJobs`, for work that needs the links mutex from the start and determines itself which jobs it needs. */
  alone<Value>(time: QueueTime, work: (hand: LoadedJobs) => Steps<Value>): Answer<Value> {
    return this.#attempt([], time, work, true)
  }

  #attempt<Value>(
    ids: readonly string[],
    time: QueueTime,
    work: (hand: LoadedJobs) => Steps<Value>,
    isAlone: boolean,
  ): Answer<Value> {
    return this.#database.transaction((session) => this.#run(new LoadedJobs(session, time, this.#parts), ids, work, isAlone))
  }

  *#run<Value>(
    hand: LoadedJobs,
    ids: readonly string[],
    work: (hand: LoadedJobs) => Steps<Value>,
    isAlone: boolean,
  ): Steps<Value> {
    if (isAlone) yield* lockMutex(hand.session, 'links')
    const rows = yield* hand.lock(ids)
    const isAnyLinked = rows.some(({ linked }) => linked === 1)
    if (isAnyLinked && !isAlone) throw new LinksMet()
    if (ids.length > 0) this.#expectsLinks = isAnyLinked
    const answer = yield* work(hand)
    yield* hand.write()
    return answer
  }
}

/** The mutex is held until the transaction ends. */
export function* lockMutex(session: SqlSession, mutex: Mutex): Steps<void> {
  if (session.dialect.isAlone !== true) yield* wait(session.all('SELECT name FROM {mutexes} WHERE name = ? FOR UPDATE', [mutex]))
}

/** The mutex must be taken before the rows, or two transactions would deadlock. */
class LinksMet extends Error {}
