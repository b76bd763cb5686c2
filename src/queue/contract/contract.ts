import type { Envelope } from '../../envelope/envelope.ts'
import type { Backlog } from './backlog.ts'
import type { Coordination } from './coordination.ts'
import type { LeaseBatch, LeaseRequest, ReapReport } from './jobs/leases.ts'
import type { SendReceipt } from './jobs/send-receipt.ts'
import type { Settlement, SettleReceipt } from './jobs/settlement.ts'
import type { JobStore } from './store.ts'
import type { Transactions } from './transactions.ts'
import type { Transfer } from './transfer.ts'
import type { Upkeep } from './upkeep.ts'

export type { Coordination, HeldLock, LockAnswer, LockHolder, OnceClaim, OnceMark } from './coordination.ts'
export type { AttemptError, DeadReason } from './failure.ts'
export type { Lease, LeaseBatch, LeaseRequest, ReapReport } from './jobs/leases.ts'
export type { ChildRefusal, SendReceipt } from './jobs/send-receipt.ts'
export type { Settlement, SettleReceipt } from './jobs/settlement.ts'
export type { ClaimableJob, ClaimRules, GroupLimits, Hold, HoldRule, QueueLimits, Rate } from './limits.ts'
export type { JoinedQueue, Transactions, WaitingJob } from './transactions.ts'

/**
 * The complete contract of a queue backend. Every call takes a batch and returns its answers in the order of its arguments. An
 * adapter only translates: retries, limits, retention and logging are decided in the layers above it.
 */
export interface QueueBackend extends AsyncDisposable {
  /** The name of the engine, such as `postgres`. */
  readonly kind: string
  /** Maximum number of jobs per claim; higher where a call is a network round trip. 1,000 by default. */
  readonly largestClaim?: number
  /** The clock by which the queue decides what is due. Absent if that is the program's own clock. */
  readonly now?: () => number
  /**
   * Stores the whole batch in one transaction, or nothing; durable when it resolves. Envelopes may depend on each other in any
   * order. A dependency that does not exist counts as failed. If a unique key is taken, the job that holds it takes the place of
   * the one that was sent.
   */
  send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]>
  /**
   * Claims due jobs, best first, and counts the attempt, so that the count survives a crash of the worker. Never blocks. Also
   * returns expired leases to the queue.
   */
  lease(request: LeaseRequest): Promise<LeaseBatch>
  /** Ends leases. Fenced by the token: the settlement of a lease that is no longer held is reported as `lost` and not applied. */
  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]>
  /**
   * Marks that the handlers of these leases are about to be called and must never be called again, whatever happens. Durable when
   * it resolves. If such a lease expires, its job ends as dead (`interrupted`). The mark belongs to the lease, not to the job: a
   * job that is put back gets a new lease.
   */
  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]>
  /**
   * Renews leases for `leaseMs` from when the backend renews them, or reports them as lost. `alone` means that the owner runs
   * nothing else from now on, so that its death counts against this job even if it was claimed with `amongOthers`.
   */
  extend(tokens: readonly string[], leaseMs: number, alone?: boolean): Promise<readonly SettleReceipt[]>
  /**
   * Returns jobs with expired leases to the queue, or ends them as dead after `maxRescues` rescues, unless the job was claimed
   * with `amongOthers`. `lease` does the same on its way. All leases of `deadOwners` count as expired.
   */
  reap(maxRescues: number, deadOwners?: readonly string[]): Promise<ReapReport>
  /** Calls `wake` soon after work may have become ready, in this process or another. Only a hint: polling works without it. */
  watch(wake: () => void): Watch
  /** Renews an owner's leases while the program's event loop is blocked. Absent if only that loop could renew them. */
  standIn?(request: StandInRequest): StandIn
  /** Inspects the queue and changes waiting jobs. Absent if the engine cannot inspect its jobs. */
  readonly store?: JobStore
  /**
   * When `store` first knows a job. Absent: from the moment it is sent. With `claim`, a due job may be unknown to the store until
   * it is claimed.
   */
  readonly recordsFrom?: 'claim'
  /** Counts what a broker holds. Absent if `store` counts all jobs, or nothing can. */
  readonly backlog?: Backlog
  /** State shared between workers. Absent if the engine has none. */
  readonly coordination?: Coordination
  /** Commits jobs together with the program's own writes. Absent if the queue is not in a SQL database. */
  readonly transactions?: Transactions
  /** Claims with `others`. Absent if a claim must name its jobs. */
  readonly patterns?: PatternClaims
  /** Maintenance of the database that holds the queue. Absent if there is none. */
  readonly upkeep?: Upkeep
  /** Moves the queue to another backend. Absent if the engine cannot export or import jobs with their history. */
  readonly transfer?: Transfer
}

/** Needed to claim on behalf of many callers that wait for different jobs. */
export interface PatternClaims {
  /** Which of these jobs have ready work, regardless of limits. The cost depends only on the number of jobs asked about. */
  readyOf(jobs: readonly string[]): Promise<readonly string[]>
}

/** A backend with both a store and coordination, whatever else it supports. */
export type WholeBackend = QueueBackend & Required<Pick<QueueBackend, 'store' | 'coordination'>>

export interface Watch {
  /** Whether work sent by another program currently wakes this one too. If not, only polling finds it. */
  readonly isPush: boolean
  close(): void
}

export interface StandInRequest {
  readonly owner: string
  readonly leaseMs: number
  /** A job with a timeout keeps its lease for at most that timeout plus this long after its claim. */
  readonly graceMs: number
  /**
   * A job without a timeout keeps its lease for at most this long after the last heartbeat, so that a program that hangs forever
   * eventually loses it.
   */
  readonly longestMs: number
}

export interface StandIn {
  /** Heartbeat: the event loop is alive and renews leases itself. Cheap enough to call often. */
  beat(): void
  /** No leases are held, so there is nothing to renew until the next heartbeat. */
  rest(): void
  stop(): void
}
