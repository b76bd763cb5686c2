import { type Steps, wait } from '../../../core/answer.ts'
import type { Envelope, Seal } from '../../../envelope/envelope.ts'
import type { SendReceipt, Settlement, SettleReceipt, WaitingJob } from '../../../queue/contract/contract.ts'
import type { AmendAnswer, JobChange } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { CountChanges } from '../lanes/counts.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { Groups, type Place } from '../limits/groups.ts'
import { type QueueParts, queueParts, type SharedParts } from '../queue-parts.ts'
import { isJobId } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { Amending } from '../store/amending.ts'
import type { Waker } from '../waking/waker.ts'
import { JoinedDatabase } from './joined-database.ts'

/** What the queue provides besides the transaction. */
export interface JoinedGround {
  readonly database: SqlDatabase
  readonly shared: SharedParts
  readonly waker: Waker
  readonly time: QueueTime
}

/** The queue inside a transaction that the caller ends. */
export class SqlJoinedQueue {
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

  *send(envelopes: readonly Envelope[]): Steps<readonly SendReceipt[]> {
    if (envelopes.length === 0) return []
    const receipts = yield* this.#parts.sending.send(envelopes, this.#ground.time)
    yield* wait(this.#ground.waker.wakeAtCommit(this.#session))
    return receipts
  }

  /** Locks the row, so that its current contents are seen and stay unchanged. */
  *get(id: string): Steps<WaitingJob | null> {
    if (!isJobId(id)) return null
    const question = 'SELECT lane, number, identity, payload, signature, created_at FROM {jobs} WHERE id = ? FOR UPDATE'
    const [row] = yield* wait(this.#database.all<WaitingRow>(question, [id]))
    if (row === undefined) return null
    const { lane, created_at: createdAt, ...seal } = row
    yield* this.#lanes.numbered(this.#database, [lane])
    const { job, queue, priority, single } = this.#lanes.get(lane)
    return { id, job, queue, priority, singleInstance: single === 1, createdAt, ...seal }
  }

  *amend(changes: readonly JobChange[]): Steps<readonly AmendAnswer[]> {
    const { units } = this.#parts
    const { database: beside, time, waker } = this.#ground
    const amending = new Amending({ lanes: this.#lanes, units, database: this.#database, beside })
    const answers = yield* amending.amend(changes, time)
    yield* wait(waker.wakeAtCommit(this.#session))
    return answers
  }

  /** Rolled back if the job would end in a different way than requested. */
  *settle(settlement: Settlement): Steps<SettleReceipt> {
    try {
      return yield* wait(this.#database.transaction(() => this.#settle(settlement)))
    } catch (thrown) {
      if (thrown instanceof NotDone) return thrown.receipt
      throw thrown
    }
  }

  *#settle(settlement: Settlement): Steps<SettleReceipt> {
    const { receipts, released } = yield* this.#parts.settling.settle([settlement], this.#ground.time)
    const receipt = receipts[0] as SettleReceipt
    if (receipt !== 'applied' && receipt !== 'blocked') throw new NotDone(receipt)
    if (released) yield* wait(this.#ground.waker.wakeAtCommit(this.#session))
    return receipt
  }
}

interface WaitingRow extends Seal {
  readonly number: number | null
  readonly lane: number
  readonly created_at: number
}

class NotDone extends Error {
  readonly receipt: SettleReceipt

  constructor(receipt: SettleReceipt) {
    super()
    this.receipt = receipt
  }
}

/**
 * For transactions that the caller ends, perhaps much later. Adding a group locks a row that claims need, so it is not done here.
 * Instead, the jobs are stored as scheduled and already due; the next claim makes them ready and adds the group.
 */
class DeferredGroups extends Groups {
  override *arrive(session: SqlSession, places: readonly Place[]): Steps<void> {
    if (places.length === 0) return
    const ids = places.map(({ id }) => id).sort()
    yield* wait(session.run(`UPDATE {jobs by PRIMARY} SET state = ${stateNumber.scheduled} WHERE id IN (?)`, [ids]))
    const changes = new CountChanges()
    for (const { lane } of places) changes.move(lane, stateNumber.ready, stateNumber.scheduled)
    yield* changes.insert(session)
  }

  /** The claim that finds a group without ready jobs drops it. */
  override *leave(): Steps<void> {}
}
