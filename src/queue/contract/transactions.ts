import type { Answer } from '../../core/answer.ts'
import type { WorkTransaction } from '../../definition/transactions/sql-transaction.ts'
import type { Envelope, Sealed } from '../../envelope/envelope.ts'
import type { AmendAnswer, JobChange } from './jobs/job-change.ts'
import type { JobRecord } from './jobs/job-record.ts'
import type { SendReceipt } from './jobs/send-receipt.ts'
import type { Settlement, SettleReceipt } from './jobs/settlement.ts'

export interface Transactions {
  /**
   * Runs `work` and the settlement it returns in one transaction. If `work` throws or the lease is lost, nothing is kept. If the
   * job does not end as done, because a child failed or it was asked to stop, only the end of the job is kept. Waits its turn
   * without blocking. On a file database the transaction is synchronous and a promise is refused; elsewhere `work` may be called
   * again after a deadlock.
   */
  complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>): Promise<SettleReceipt>
  /**
   * The queue inside a transaction that the caller has begun. Changes take effect when that transaction commits and vanish if it
   * is rolled back. On a file database, answers are synchronous.
   */
  join(tx: unknown): Answer<JoinedQueue>
}

/** Each call can fail or be undone without ending the caller's transaction. */
export interface JoinedQueue {
  send(envelopes: readonly Envelope[]): Answer<readonly SendReceipt[]>
  get(id: string): Answer<WaitingJob | null>
  amend(changes: readonly JobChange[]): Answer<readonly AmendAnswer[]>
  /** Ends the lease as requested. If the job would end differently, nothing is written and the receipt says how. */
  settle(settlement: Settlement): Answer<SettleReceipt>
}

/** The parts of a waiting job that must be verified before they are used. */
export type WaitingJob = Sealed & Pick<JobRecord, 'createdAt'>
