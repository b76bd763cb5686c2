import type { Envelope } from '../../envelope/envelope.ts'
import type { JoinedQueue, SendReceipt, Settlement, SettleReceipt } from '../contract.ts'
import type { AmendAnswer, Amendment, JobRecord } from '../store.ts'
import { Amending } from './amending.ts'
import { DeferredGroups } from './deferred-groups.ts'
import { JoinedDatabase } from './joined-database.ts'
import { Looking } from './looking.ts'
import { type QueueParts, queueParts, type SharedParts } from './queue-parts.ts'
import type { SqlSession } from './session.ts'
import type { Waker } from './waker.ts'

/** The queue inside of a transaction that somebody else ends. */
export class SqlJoinedQueue implements JoinedQueue {
  readonly #database: JoinedDatabase
  readonly #shared: SharedParts
  readonly #parts: QueueParts
  readonly #session: SqlSession
  readonly #waker: Waker
  readonly #now: () => number

  constructor(session: SqlSession, shared: SharedParts, waker: Waker, now: () => number) {
    this.#database = new JoinedDatabase(session)
    this.#shared = shared
    this.#parts = queueParts(this.#database, new DeferredGroups(), shared)
    this.#session = session
    this.#waker = waker
    this.#now = now
  }

  async send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    if (envelopes.length === 0) return []
    const receipts = await this.#parts.linking.send(envelopes, this.#now())
    await this.#waker.wakeAtCommit(this.#session)
    return receipts
  }

  get(id: string): Promise<JobRecord | null> {
    return new Looking({ ...this.#shared, database: this.#database }).get(id)
  }

  async amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]> {
    const { transactions } = this.#parts
    const answers = await new Amending({ ...this.#shared, transactions, database: this.#database }).amend(amendments, this.#now())
    await this.#waker.wakeAtCommit(this.#session)
    return answers
  }

  /** Undone where it would be another end than was said. */
  async settle(settlement: Settlement): Promise<SettleReceipt> {
    let receipt: SettleReceipt = 'lost'
    try {
      await this.#database.transaction(async () => {
        const { receipts, released } = await this.#parts.settling.settle([settlement], this.#now())
        receipt = receipts[0] as SettleReceipt
        if (receipt !== 'applied' && receipt !== 'blocked') throw new NotDone()
        if (released) await this.#waker.wakeAtCommit(this.#session)
      })
    } catch (thrown) {
      if (!(thrown instanceof NotDone)) throw thrown
    }
    return receipt
  }
}

class NotDone extends Error {}
