import type { Answer } from '../../core/answer.ts'
import type { WorkTransaction } from '../../definition/transactions/sql-transaction.ts'
import type { Envelope, Sealed } from '../../envelope/envelope.ts'
import type { KeyPattern } from '../claiming/key-pattern.ts'
import type { Backlog } from './backlog.ts'
import type { AttemptError, DeadReason } from './failure.ts'
import type { ClaimRules } from './limits.ts'
import type { OnceMark } from './once-mark.ts'
import type { AmendAnswer, JobChange, JobRecord, JobStore } from './store.ts'
import type { Transfer } from './transfer.ts'
import type { Upkeep } from './upkeep.ts'

export type { AttemptError, DeadReason } from './failure.ts'
export type { ClaimableJob, ClaimRules, GroupLimits, Hold, HoldRule, QueueLimits, Rate } from './limits.ts'
export type { OnceMark } from './once-mark.ts'

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

export interface SendReceipt {
  /** The id of the stored job; if the unique key was taken, the id of the job that holds it. */
  readonly id: string
  /** Whether this call stored the job. */
  readonly stored: boolean
  /** Why the job was not made a child. Nothing was stored in that case. */
  readonly refused?: ChildRefusal
}

/**
 * `lost`: the lease of the intended parent is no longer held. `cancelled`: the parent was asked to stop. `circular`: the job that
 * holds the child's unique key waits for the parent.
 */
export type ChildRefusal = 'lost' | 'cancelled' | 'circular'

export interface LeaseRequest extends ClaimRules {
  /**
   * Also claim jobs with any other key that matches these patterns, without limits of their own. An empty list matches all keys.
   * Used only if the backend has `patterns` or is a broker.
   */
  readonly others?: KeyPattern | null
  /** Claim only from these queues; null means all. Paused queues are skipped either way. */
  readonly queues: readonly string[] | null
  /**
   * Queues to leave out when all queues are requested. A hint for brokers: one that cannot exclude them may return their jobs
   * anyway.
   */
  readonly exceptQueues?: readonly string[]
  /** Claim only jobs with exactly this priority, if given. */
  readonly priority?: number | null
  /** Maximum number of jobs to claim. */
  readonly limit: number
  /** How long the leases last unless extended. */
  readonly leaseMs: number
  /** The worker that makes the claim. Shown to people, and used to address cancellations to it. */
  readonly owner: string
  /** Used for expired leases that the claim finds on its way: see `reap`. */
  readonly maxRescues: number
  /**
   * The owner holds other jobs at the same time. Its death then counts as a rescue of each of them, but ends none of them as
   * poisoned.
   */
  readonly amongOthers?: boolean
  /** How long a job must wait to gain one level of priority; null or absent means strict priority. */
  readonly ageingMs?: number | null
}

/** A worker's claim on one envelope. It ends at `expiresAt` unless extended. */
export interface Lease {
  readonly token: string
  /** The envelope as it was sent, but possibly without its links, and with the time at which it was due. */
  readonly envelope: Envelope
  /** 1 for the first run. */
  readonly attempt: number
  /** How many of its owners have died so far; 0 if absent. */
  readonly rescues?: number
  /** By the program's clock at the moment the lease was returned. The lease runs from when it was granted. */
  readonly expiresAt: number
  /** The job is part of a workflow, or another job was waiting for it when it was claimed. Absent means no. */
  readonly linked?: boolean
}

export interface LeaseBatch {
  readonly leases: readonly Lease[]
  /**
   * When the next waiting job falls due, the next rate limit frees up or the next lease expires, as far as the backend knows. If
   * there may be more to claim right away, this is not later than now, even if fewer jobs were returned than requested. By the
   * program's clock.
   */
  readonly nextAt: number | null
  /** Tokens of this owner's leases whose jobs were asked to stop. */
  readonly cancelled: readonly string[]
}

/** How a lease ends. */
export type Settlement = { readonly token: string } & (
  | {
      readonly kind: 'done'
      readonly result: string | null
      /** Stored and returned with the result: see `sealResult`. Null or absent if the result is not signed. */
      readonly seal?: string | null
      /**
       * Apply only if the job is not linked. Otherwise the receipt is `unsealed`, nothing is written and the lease stays held.
       */
      readonly unlinked?: true
      /** False deletes the job as soon as it has ended. */
      readonly keep: boolean
      readonly once?: OnceMark
      /**
       * Apply only if the job waits for no children. Otherwise the receipt is `blocked`, nothing is written and the lease stays
       * held.
       */
      readonly alone?: true
    }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: AttemptError }
  /** Returns the job to the queue without using up the attempt. Without a delay it gets its old place back. */
  | { readonly kind: 'snooze'; readonly delayMs: number }
  /** Run again when its children have ended, or at once if it waits for none. Does not use up the attempt. */
  | { readonly kind: 'wait' }
  /**
   * The run succeeded, and the job is to run again as this envelope says, with all its attempts. The envelope may change the
   * payload, identity, time, queue, priority and even `job`. The job keeps its id, number, creation time, unique key, links,
   * errors and last start. Jobs that wait for it keep waiting, and children that it waits for make no difference.
   */
  | { readonly kind: 'again'; readonly envelope: Envelope }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly error: AttemptError; readonly keep: boolean }
  | { readonly kind: 'cancelled'; readonly keep: boolean }
  /** Ended without a run, so without using up an attempt. The result is that of another run that did the same work. */
  | {
      readonly kind: 'skipped'
      readonly why: string
      readonly keep: boolean
      readonly result?: string | null
      readonly seal?: string | null
      /** The result was kept encrypted and must be stored encrypted, whatever the job says: see `sealed`. */
      readonly encrypted?: true
      /** The result was accepted without a signature and must be stored without one: see `sealed`. */
      readonly unsigned?: true
    }
)

/**
 * - `applied`: as requested.
 * - `lost`: the lease is no longer held, and nothing was written.
 * - `blocked`: the job is done but waits for children. It keeps its result until the last of them has ended.
 * - `failed`: a child failed in a way that its parent does not survive, so the job failed with it.
 * - `cancelled`: the job was asked to stop, so it was cancelled instead of returning to the queue or waiting.
 * - `unsealed`: see `unlinked` in `Settlement`.
 */
export type SettleReceipt = 'applied' | 'lost' | 'blocked' | 'failed' | 'cancelled' | 'unsealed'

export interface ReapReport {
  /** Jobs that went back to the queue. */
  readonly returned: number
  /** Jobs that ended as dead (`poisoned`). */
  readonly poisoned: number
}

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

export interface Coordination {
  /**
   * Asks whether this job may run under its idempotency key. Only a finished run suppresses another one. The key belongs to the
   * run that claimed it until its lease ends and the children it waits for have ended. A `done` settlement that carries the key
   * keeps it together with the result; otherwise it is freed, and the next run of the same job has to claim it again. A job that
   * is not running gets an answer but does not acquire the key.
   */
  claimOnce(key: string, jobId: string): Promise<OnceClaim>
  /** Takes a lock for `ttlMs`, or renews it if this owner already has it. An expired lock is free. */
  lock(name: string, holder: LockHolder, ttlMs: number): Promise<LockAnswer>
  /** Frees a lock. Only its owner can; false if this owner does not hold it, or no longer does. */
  unlock(name: string, owner: string): Promise<boolean>
}

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

/** The parts of a waiting job that must be verified before they are used. */
export type WaitingJob = Sealed & Pick<JobRecord, 'createdAt'>

/** Each call can fail or be undone without ending the caller's transaction. */
export interface JoinedQueue {
  send(envelopes: readonly Envelope[]): Answer<readonly SendReceipt[]>
  get(id: string): Answer<WaitingJob | null>
  amend(changes: readonly JobChange[]): Answer<readonly AmendAnswer[]>
  /** Ends the lease as requested. If the job would end differently, nothing is written and the receipt says how. */
  settle(settlement: Settlement): Answer<SettleReceipt>
}

export interface LockHolder {
  /** Unique to each program that may hold a lock. */
  readonly owner: string
  readonly host: string
  readonly pid: number
}

export type LockAnswer = { readonly held: true } | { readonly held: false; readonly by: HeldLock }

export interface HeldLock extends LockHolder {
  readonly since: number
  readonly expiresAt: number
}

export type OnceClaim =
  | { readonly kind: 'claimed' }
  /** Another job is running under the key. */
  | { readonly kind: 'busy' }
  /** A run has finished under the key, with this result. */
  | { readonly kind: 'done'; readonly result: string | null; readonly seal: string | null }
