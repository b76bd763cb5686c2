import type { Answer } from '../../core/answer.ts'
import type { WorkTransaction } from '../../definition/transactions/sql-transaction.ts'
import type { Envelope, Sealed } from '../../envelope/envelope.ts'
import type { KeyPattern } from '../claiming/key-pattern.ts'
import type { AttemptError, DeadReason } from './failure.ts'
import type { ClaimRules } from './limits.ts'
import type { OnceMark } from './once-mark.ts'
import type { AmendAnswer, Amendment, JobRecord, JobStore, RejectAnswer, Rejection } from './store.ts'
import type { Transfer } from './transfer.ts'
import type { Upkeep } from './upkeep.ts'

export type { AttemptError, DeadReason } from './failure.ts'
export type { ClaimableJob, ClaimRules, GroupLimits, Hold, HoldRule, QueueLimits, Rate } from './limits.ts'
export type { OnceMark } from './once-mark.ts'

/**
 * What a queue must do, and all that it must do. Every call takes and answers batches; answers stand in the order of the
 * questions. An adapter translates and decides nothing: retries, limits, retention and logging are decided above it.
 */
export interface QueueBackend extends AsyncDisposable {
  readonly kind: string
  /** So many jobs are asked for by one claim at most: more where a call is a round trip. 1,000 by default. */
  readonly largestClaim?: number
  /** The time by which the queue decides what is due. Absent where that is the clock of the program. */
  readonly now?: () => number
  /**
   * Durable when it resolves, all of it or nothing. Envelopes may wait for each other in any order. A job that waits for one that
   * is nowhere waits for one that failed; where a unique key was taken, the job that holds it stands for the one that was sent.
   */
  send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]>
  /** Claims due jobs, best first, and counts the attempt, so that it outlives the worker. Never blocks; also returns expired leases to the queue. */
  lease(request: LeaseRequest): Promise<LeaseBatch>
  /** Ends leases. Fenced by the token: a settlement of a lease that is no longer held is reported as `lost` and not applied. */
  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]>
  /**
   * The handlers of these leases are about to be called and must never be called again, whatever happens: durable when it
   * resolves. From here on such a lease ends its job as dead (`interrupted`) when it runs out. It is the lease that was begun: a job
   * that is put back has another one.
   */
  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]>
  /**
   * Renews leases for `leaseMs` from when they are had for it, or tells that they are lost. `alone` tells that the owner of each runs nothing else from
   * here on, so that its death counts against this job although it was claimed `amongOthers`.
   */
  extend(tokens: readonly string[], leaseMs: number, alone?: boolean): Promise<readonly SettleReceipt[]>
  /**
   * Returns expired leases to the queue, or to `dead` after `maxRescues` of them, unless the job was held among others. `lease`
   * does the same on its way. Of owners that are known to be dead, all leases count as expired.
   */
  reap(maxRescues: number, deadOwners?: readonly string[]): Promise<ReapReport>
  /** Calls `wake` soon after work may have become ready for another process or this one. A hint: polling works without it. */
  watch(wake: () => void): Watch
  /** Renews an owner's leases while the program's event loop stands still. Absent where nothing but that loop could. */
  standIn?(request: StandInRequest): StandIn
  /** Looking into the queue and changing what waits in it. Absent where the engine cannot look. */
  readonly store?: JobStore
  /** From when on `store` knows a job. From its send where nothing is said; otherwise one that is due may be nowhere until it is claimed. */
  readonly recordsFrom?: 'claim'
  /** State shared between workers. Absent where the engine has none. */
  readonly coordination?: Coordination
  /** Jobs and the program's own writes in one transaction. Absent where the queue is not in a SQL database. */
  readonly transactions?: Transactions
  /** Claims that ask for `others`. Absent where a claim must name its jobs. */
  readonly patterns?: PatternClaims
  /** Looking after the database that the queue is in. Absent where there is none. */
  readonly upkeep?: Upkeep
  /** Handing the queue over to another one. Absent where the engine cannot give out, or take in, jobs with their history. */
  readonly transfer?: Transfer
}

/** What somebody needs who claims for many that wait for different jobs. */
export interface PatternClaims {
  /** Those of these jobs of which something is ready, whatever limits stand before it: at the cost of what is asked for. */
  readyOf(jobs: readonly string[]): Promise<readonly string[]>
}

/** One that has both parts, whatever else it can do. */
export type WholeBackend = QueueBackend & Required<Pick<QueueBackend, 'store' | 'coordination'>>

export interface SendReceipt {
  /** The id of the stored job: another one's where the unique key was taken. */
  readonly id: string
  readonly stored: boolean
  /** Why it was not made a child; nothing was stored then. */
  readonly refused?: ChildRefusal
}

/**
 * The lease of the job that was to be its parent is no longer held, that job was asked to stop, or the job that holds the child's
 * unique key waits for it.
 */
export type ChildRefusal = 'lost' | 'cancelled' | 'circular'

export interface LeaseRequest extends ClaimRules {
  /**
   * Jobs with any other key that passes these tests are claimed too, without limits of their own; all keys pass an empty list. Only
   * where the backend has `patterns`, or is a broker.
   */
  readonly others?: KeyPattern | null
  /** Only from these queues; null is all of them. Paused queues are left alone either way. */
  readonly queues: readonly string[] | null
  /** Where all queues are asked for, not from these. A hint for brokers: one that cannot leave them out may give their jobs, too. */
  readonly exceptQueues?: readonly string[]
  /** Only those of this very priority, where one is given. */
  readonly priority?: number | null
  readonly limit: number
  readonly leaseMs: number
  /** The worker that asks: shown to people, and the address of cancellations. */
  readonly owner: string
  readonly maxRescues: number
  /** Their owner holds other jobs beside these: that it dies is counted as a rescue of each, but ends none of them as poisoned. */
  readonly amongOthers?: boolean
  /** So much waiting counts as one level of priority; null, or nothing, is strict priority. */
  readonly ageingMs?: number | null
}

/** A worker's claim on one envelope. It ends at `expiresAt` unless extended. */
export interface Lease {
  readonly token: string
  /** As it was sent, but perhaps without its links, and with the time for which it was due. */
  readonly envelope: Envelope
  /** 1 for the first run. */
  readonly attempt: number
  /** How many of its owners have died so far; none where it is not said. */
  readonly rescues?: number
  /** By the clock of the program, as it went when the lease was handed out: it counts from when it was granted. */
  readonly expiresAt: number
  /** It is part of a workflow, or somebody waited for it when it was claimed. Nothing is no. */
  readonly linked?: boolean
}

export interface LeaseBatch {
  readonly leases: readonly Lease[]
  /**
   * When the next waiting job falls due, the next rate gives way or the next lease expires, as far as the backend knows. Not later
   * than now where there may be more to claim at once, also when fewer came than were asked for. By the clock of the program.
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
      /** Stored with the result and given back with it: see `sealResult`. Null, or nothing, where it is not signed. */
      readonly seal?: string | null
      /** Only where it is not linked: otherwise the receipt is `unsealed` and nothing is written, the lease is held on. */
      readonly unlinked?: true
      readonly keep: boolean
      readonly once?: OnceMark
      /** Only where it waits for no children: otherwise the receipt is `blocked` and nothing is written, the lease is held on. */
      readonly alone?: true
    }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly error: AttemptError }
  /** Back to the queue without burning the attempt; without a delay, to the place that it had. */
  | { readonly kind: 'snooze'; readonly delayMs: number }
  /** To be run again when its children have ended; at once where none is waited for. The attempt is not burnt. */
  | { readonly kind: 'wait' }
  /**
   * The run has ended well, and the job is to be done again as this envelope says, with all its attempts: another payload, identity,
   * time, queue, priority and even another `job`. Its id, number, birth, unique key, links, errors and last start stay. Whoever
   * waits for it goes on waiting, and children that it waits for change nothing.
   */
  | { readonly kind: 'again'; readonly envelope: Envelope }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly error: AttemptError; readonly keep: boolean }
  | { readonly kind: 'cancelled'; readonly keep: boolean }
  /** Ended without a run, and so without an attempt. The result is that of another run which did the same work. */
  | {
      readonly kind: 'skipped'
      readonly why: string
      readonly keep: boolean
      readonly result?: string | null
      readonly seal?: string | null
      /** The result was kept encrypted, and is to be stored so, whatever the job says: see `sealed`. */
      readonly encrypted?: true
    }
)

/**
 * A job that is `done` while it waits for children is `blocked` and keeps its result until the last of them has ended; where one
 * of them has failed in a way that its parent does not survive, the parent has `failed` with it. A job that was asked to stop and
 * would come back, or wait, is `cancelled` in place of that.
 */
export type SettleReceipt = 'applied' | 'lost' | 'blocked' | 'failed' | 'cancelled' | 'unsealed'

export interface ReapReport {
  readonly returned: number
  readonly poisoned: number
}

export interface Watch {
  /** Whether work that another program sends wakes this one too, for now. Otherwise only a look finds it. */
  readonly isPush: boolean
  close(): void
}

export interface StandInRequest {
  readonly owner: string
  readonly leaseMs: number
  /** A job with a timeout is kept for no longer than that, and so much more, after its claim. */
  readonly graceMs: number
  /** A job without one is kept for no longer than this after the last beat: a program that hangs forever loses it some day. */
  readonly longestMs: number
}

export interface StandIn {
  /** The event loop lives, and renews by itself. To be called often: it costs next to nothing. */
  beat(): void
  /** Nothing is held, so there is nothing to renew until the next beat. */
  rest(): void
  stop(): void
}

export interface Coordination {
  /**
   * Asks whether this job may run under its idempotency key. Only a finished run suppresses another one: the key belongs to
   * the run that claimed it, until its lease ends and the children that it waits for have ended. It is kept with the result by a
   * `done` settlement that carries it, and is free otherwise: the next run of the same job has to claim it again. A job that does
   * not run gets the answer, and holds nothing.
   */
  claimOnce(key: string, jobId: string): Promise<OnceClaim>
  /** Forgets idempotency keys and unique keys that were kept and whose time is over, at most `limit` of each; gives their number. */
  sweepKeys(limit: number): Promise<number>
  /** Takes a lock for `ttlMs`, or renews it where this owner has it already; a lock whose time is over is free. */
  lock(name: string, holder: LockHolder, ttlMs: number): Promise<LockAnswer>
  /** Only its owner can free a lock; false when it is not, or no longer, this one's. */
  unlock(name: string, owner: string): Promise<boolean>
}

export interface Transactions {
  /**
   * Runs `work` and the settlement that it gives in one transaction. Nothing of it is kept where `work` throws or the lease is
   * lost, and nothing but the end of the job where that is not done, because a child of it failed or it was asked to stop. It waits
   * its turn without blocking. Where the database is a file, the transaction is synchronous and a promise is refused; elsewhere
   * `work` may be called again after a deadlock.
   */
  complete(token: string, work: (tx: WorkTransaction) => Answer<Settlement>): Promise<SettleReceipt>
  /**
   * The queue inside of a transaction that the caller has begun: what is done to it is there when that is committed, and never was
   * when it is rolled back. Answers come at once where the database is a file.
   */
  join(tx: unknown): Answer<JoinedQueue>
}

/** What a job that waits carries, to be verified before anything is made of it. */
export type WaitingJob = Sealed & Pick<JobRecord, 'createdAt'>

/** All of it fails, or is undone, without an end to the caller's transaction. */
export interface JoinedQueue {
  send(envelopes: readonly Envelope[]): Answer<readonly SendReceipt[]>
  get(id: string): Answer<WaitingJob | null>
  amend(amendments: readonly Amendment[]): Answer<readonly AmendAnswer[]>
  reject(rejections: readonly Rejection[]): Answer<readonly RejectAnswer[]>
  /** Ends the lease, unless it would end otherwise than it was said: then nothing is written, and the receipt says so. */
  settle(settlement: Settlement): Answer<SettleReceipt>
}

export interface LockHolder {
  /** Another one for each program that may hold a lock. */
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
  /** Another job runs under the key. */
  | { readonly kind: 'busy' }
  /** A run has finished under the key, with this result. */
  | { readonly kind: 'done'; readonly result: string | null; readonly seal: string | null }
