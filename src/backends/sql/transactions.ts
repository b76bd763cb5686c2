import { type HandParts, JobsInHand } from './jobs-in-hand.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase, SqlSession } from './session.ts'

/** What at most one transaction does at a time: claims below limits, and changes to what waits for what. */
export type Mutex = 'claims' | 'links'

/** Transactions over jobs that are locked, changed and written together. */
export class Transactions {
  readonly #database: SqlDatabase
  readonly #parts: HandParts
  #expectsLinks = false

  constructor(database: SqlDatabase, parts: HandParts) {
    this.#database = database
    this.#parts = parts
  }

  /** Locks these jobs, has them changed, and writes that. Jobs that are part of a workflow are only ever changed by one at a time. */
  async withJobs(ids: readonly string[], time: QueueTime, work: (hand: JobsInHand) => Promise<void>): Promise<JobsInHand> {
    try {
      return await this.#attempt(ids, time, work, this.#expectsLinks)
    } catch (thrown) {
      if (!(thrown instanceof LinksMet)) throw thrown
    }
    return this.#attempt(ids, time, work, true)
  }

  /** As `withJobs`, for work that is on links from the start and finds out by itself which jobs it needs. */
  alone(time: QueueTime, work: (hand: JobsInHand) => Promise<void>): Promise<JobsInHand> {
    return this.#attempt([], time, work, true)
  }

  #attempt(
    ids: readonly string[],
    time: QueueTime,
    work: (hand: JobsInHand) => Promise<void>,
    isAlone: boolean,
  ): Promise<JobsInHand> {
    return this.#database.transaction(async (session) => {
      if (isAlone) await lockMutex(session, 'links')
      const hand = new JobsInHand(session, time, this.#parts)
      const rows = await hand.lock(ids)
      const isAnyLinked = rows.some(({ linked }) => linked === 1)
      if (isAnyLinked && !isAlone) throw new LinksMet()
      if (ids.length > 0) this.#expectsLinks = isAnyLinked
      await work(hand)
      await hand.write()
      return hand
    })
  }
}

/** Held until the transaction ends. */
export async function lockMutex(session: SqlSession, mutex: Mutex): Promise<void> {
  await session.all('SELECT name FROM {mutexes} WHERE name = ? FOR UPDATE', [mutex])
}

/** The mutex has to be taken before the rows, or two transactions would wait for each other. */
class LinksMet extends Error {}
