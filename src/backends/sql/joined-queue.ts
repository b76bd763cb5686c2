import type { Envelope, Seal } from '../../envelope/envelope.ts'
import type { JoinedQueue, SendReceipt, Settlement, SettleReceipt, WaitingJob } from '../contract.ts'
import type { AmendAnswer, Amendment, RejectAnswer, Rejection } from '../store.ts'
import { Amending } from './amending.ts'
import { DeferredGroups } from './deferred-groups.ts'
import { JoinedDatabase } from './joined-database.ts'
import type { Lanes } from './lanes.ts'
import { type QueueParts, queueParts, type SharedParts } from './queue-parts.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { isJobId } from './token.ts'
import type { Waker } from './waker.ts'

/** What the queue has beside the transaction. */
export interface JoinedGround {
  readonly database: SqlDatabase
  readonly shared: SharedParts
  readonly waker: Waker
  readonly now: () => number
}

/** The queue inside of a transaction that somebody else ends. */
export class SqlJoinedQueue implements JoinedQueue {
  readonly #session: SqlSession
  readonly #ground: JoinedGround
  readonly #database: JoinedDatabase
  readonly #lanes: Lanes
  readonly #parts: QueueParts

  constructor(session: SqlSession, ground: JoinedGround) {
    this.#session = session
    this.#ground = ground
    this.#database = new JoinedDatabase(session)
    this.#lanes = ground.shared.lanes.within(this.#database)
    const shared = { ...ground.shared, lanes: this.#lanes }
    this.#parts = queueParts(this.#database, new DeferredGroups(), shared, ground.database)
  }

  async send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    if (envelopes.length === 0) return []
    const receipts = await this.#parts.linking.send(envelopes, this.#ground.now())
    await this.#ground.waker.wakeAtCommit(this.#session)
    return receipts
  }

  /** Locked, so that it is seen as it is, and nobody changes it in between. */
  async get(id: string): Promise<WaitingJob | null> {
    if (!isJobId(id)) return null
    const question = 'SELECT lane, identity, payload, signature, created_at FROM {jobs} WHERE id = ? FOR UPDATE'
    const [row] = await this.#database.all<WaitingRow>(question, [id])
    if (row === undefined) return null
    const { lane, created_at: createdAt, ...seal } = row
    await this.#lanes.numbered(this.#database, [lane])
    const { job, queue, priority, single } = this.#lanes.get(lane)
    return { id, job, queue, priority, singleInstance: single === 1, createdAt, ...seal }
  }

  async amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]> {
    const answers = await this.#amending().amend(amendments, this.#ground.now())
    await this.#ground.waker.wakeAtCommit(this.#session)
    return answers
  }

  async reject(rejections: readonly Rejection[]): Promise<readonly RejectAnswer[]> {
    const answers = await this.#amending().reject(rejections, this.#ground.now())
    await this.#ground.waker.wakeAtCommit(this.#session)
    return answers
  }

  /** Undone where it would be another end than was said. */
  async settle(settlement: Settlement): Promise<SettleReceipt> {
    let receipt: SettleReceipt = 'lost'
    try {
      await this.#database.transaction(async () => {
        const { receipts, released } = await this.#parts.settling.settle([settlement], this.#ground.now())
        receipt = receipts[0] as SettleReceipt
        if (receipt !== 'applied' && receipt !== 'blocked') throw new NotDone()
        if (released) await this.#ground.waker.wakeAtCommit(this.#session)
      })
    } catch (thrown) {
      if (!(thrown instanceof NotDone)) throw thrown
    }
    return receipt
  }

  #amending(): Amending {
    const { transactions } = this.#parts
    return new Amending({ lanes: this.#lanes, transactions, database: this.#database, beside: this.#ground.database })
  }
}

interface WaitingRow extends Seal {
  readonly lane: number
  readonly created_at: number
}

class NotDone extends Error {}
