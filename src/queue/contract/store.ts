import type { Json } from '../../core/text/json.ts'
import type { Envelope, FailurePolicy, Seal } from '../../envelope/envelope.ts'
import type { EventStore } from './event-store.ts'
import type { AttemptError, DeadReason } from './failure.ts'
import type { FinalState, JobState } from './job-state.ts'
import type { ClaimRules, Hold } from './limits.ts'
import type { LogStore } from './log-store.ts'
import type { RollupStore } from './rollup-store.ts'
import type { ScheduleStore } from './schedule-store.ts'
import type { WorkerStore } from './worker-store.ts'

/** Inspects jobs, and changes those that wait. */
export interface JobStore {
  get(id: string): Promise<JobRecord | null>
  /** Newest first. */
  list(filter: JobFilter): Promise<readonly JobRecord[]>
  /**
   * Reads maintained counters instead of counting rows. Including the age of the oldest ready jobs costs one index lookup per
   * lane.
   */
  counts(options?: CountOptions): Promise<readonly JobCount[]>
  /** Ends a waiting job as cancelled; asks the worker of a running one to stop. */
  cancel(id: string, options?: CancelOptions): Promise<Cancellation>
  /** Changes waiting jobs, one after the other: their envelopes, or only their times, or rejects them. */
  amend(changes: readonly JobChange[]): Promise<readonly AmendAnswer[]>
  /** Puts ended jobs back in the queue with all their attempts. Their error history is kept. */
  retry(ids: readonly string[]): Promise<readonly ('requeued' | 'active' | 'conflict' | 'missing')[]>
  /** For each of these jobs, the id of the other job that holds its unique key. Null if there is none. */
  holders(ids: readonly string[]): Promise<readonly (string | null)[]>
  /** Deletes ended jobs, at most `limit` of them. */
  remove(filter: RemoveFilter): Promise<number>
  /** Stores the progress that running jobs report. Reports for a lost lease are ignored. */
  report(reports: readonly ProgressReport[]): Promise<void>
  /** The matching leases that are held now, in the order of their claims. */
  leases(filter: LeaseFilter): Promise<readonly HeldLease[]>
  /** Stops claims from a queue, or of a key in any queue, or allows them again. */
  setPaused(target: Pausable, paused: boolean): Promise<void>
  /** What is paused, by name. */
  paused(): Promise<Paused>
  /** Which of these limits keep a ready job from being claimed now. Empty if it may be claimed or is not ready. */
  holds(id: string, rules: ClaimRules): Promise<readonly Hold[]>
  /**
   * What a job waits for, or has waited for: its dependencies in their order, then its children in the order of their creation.
   */
  links(id: string): Promise<readonly JobLink[]>
  /** One bounded step of clean-up. Call it again while `looked` reaches the limit. */
  sweep(request: SweepRequest): Promise<SweepReport>
  readonly schedules: ScheduleStore
  readonly workers: WorkerStore
  /** Small numbers beside the ids of jobs. Absent if the engine has none. */
  readonly numbers?: JobNumbers
  /** What jobs have logged. Absent if the engine stores no logs. */
  readonly logs?: LogStore
  /** Aggregated history for charts. Absent if the engine keeps none. */
  readonly rollups?: RollupStore
  /** Events of all processes, recorded while there are listeners. Absent if the engine cannot provide them. */
  readonly events?: EventStore
}

/** Small numbers for jobs, starting at 1 and never reused. There may be gaps. */
export interface JobNumbers {
  /** Reserves `count` consecutive numbers for envelopes that are yet to be sent, and returns the first. */
  reserve(count: number): Promise<number>
  /** The numbers of these jobs. Those without one get one, the oldest of them first. Null if the job does not exist. */
  assign(ids: readonly string[]): Promise<readonly (number | null)[]>
  /** The ids of the jobs with these numbers; null if there is none. */
  find(numbers: readonly number[]): Promise<readonly (string | null)[]>
}

export interface CancelOptions {
  /**
   * Cancel the job together with everything it created and everything that waits for it. If the id is that of a workflow instead
   * of a job, all of its jobs.
   */
  readonly tree?: boolean
}

/** How many jobs a cancellation affected, by their outcome. All are 0 if there is no such job. */
export interface Cancellation {
  readonly cancelled: number
  /** Running jobs that were asked to stop. */
  readonly requested: number
  /** Jobs that had already ended. */
  readonly ended: number
}

export const noCancellation: Cancellation = { cancelled: 0, requested: 0, ended: 0 }

/** A change to one waiting job. */
export type JobChange = Amendment | Rescheduling | Rejection

/**
 * Replaces the envelope. It may change the payload, time, queue, priority, identity and even `job`. The id, number, creation
 * time, unique key and how long that is held stay the same.
 */
export interface Amendment {
  readonly id: string
  /**
   * What the amendment is based on. If the job has another payload, identity or signature by now, nothing is changed. Null skips
   * the check.
   */
  readonly expected: Seal | null
  /** With the same id, and newly sealed. */
  readonly envelope: Envelope
  /**
   * Apply it to running and ended jobs too. The job's state and lease stay as they are: the current holder has the old envelope,
   * but if the lease is lost, the job comes back with the new one.
   */
  readonly inAnyState?: true
  /** A job that waits for others, such as its children, waits for them no more. */
  readonly unblocks?: true
  /** Keep the job's current time, whatever the envelope says: it may have been moved since the envelope was made. */
  readonly keepsTime?: true
}

/** Moves the job to another time. */
export interface Rescheduling {
  readonly id: string
  readonly runAt: number
}

/** Ends the job as dead (`rejected`), because its envelope was inspected and found to be forged or spoilt. */
export interface Rejection {
  readonly id: string
  /** The envelope that was refused. If the job has another one by now, it is left alone. */
  readonly expected: Seal
  readonly error: AttemptError
}

/** The first three say that an amendment, a rescheduling or a rejection was applied; the others, why it was not. */
export type AmendAnswer = 'amended' | 'moved' | 'rejected' | 'changed' | 'claimed' | 'ended' | 'missing'

/** Everything the queue knows about a job. */
export interface JobRecord {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly state: JobState
  /**
   * The text that was signed together with the payload, and the signature: see `openEnvelope`. All other fields are only as
   * trustworthy as the database.
   */
  readonly identity: string
  readonly signature: string | null
  /** JSON texts, exactly as written. */
  readonly payload: string
  readonly result: string | null
  /** Signs the result and the fact that the job ended with it: see `verifyResult`. */
  readonly seal: string | null
  readonly progress: string | null
  readonly meta: Readonly<Record<string, Json>>
  /** Labels for finding the job. */
  readonly tags: readonly string[]
  /** Attempts that were started and not given back. */
  readonly attempts: number
  readonly maxRetries: number
  /** How long an attempt may take before it fails; null means no limit. */
  readonly timeoutMs: number | null
  readonly singleInstance: boolean
  /** When to run it again after it is done, in the repeat language; null if it runs once. */
  readonly repeat: string | null
  /** How often its lease expired because a worker died. */
  readonly rescues: number
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly schedule: string | null
  /** The instant that a scheduled run stands for. */
  readonly occurrence: number | null
  readonly group: string | null
  /** The job that created it and waits for it. */
  readonly parent: string | null
  /** The id shared by all jobs of its workflow; null if it is not part of one. */
  readonly root: string | null
  /** Why it is dead, or why it was skipped. */
  readonly reason: DeadReason | string | null
  readonly errors: readonly AttemptError[]
  readonly createdAt: number
  readonly runAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly owner: string | null
  readonly leaseExpiresAt: number | null
  readonly cancelRequested: boolean
  /**
   * What is wrong with its row, if something other than Treadle has written to it. Unreadable values were left out or moved into
   * bounds.
   */
  readonly spoilt?: readonly string[]
}

/** Which leases: those of these owners, or of these jobs. */
export type LeaseFilter = { readonly owners: readonly string[] } | { readonly ids: readonly string[] }

/** A lease as seen from outside the run: without the payload. */
export interface HeldLease {
  readonly token: string
  readonly owner: string
  readonly id: string
  readonly job: string
  /** The text that was signed: see `parseIdentity`. */
  readonly identity: string
  readonly attempt: number
  readonly claimedAt: number
  readonly expiresAt: number
}

/** Which jobs to list, count or change. */
export interface JobFilter {
  readonly state?: JobState
  readonly queue?: string
  readonly job?: string
  readonly group?: string
  /** Only the jobs of this workflow. */
  readonly root?: string
  /** Only jobs that are part of a workflow. */
  readonly isLinked?: true
  /** Only jobs with this tag. */
  readonly tag?: string
  /** Only jobs older than the one with this id; for paging. */
  readonly before?: string
  readonly limit: number
}

export interface CountOptions {
  /** Only this queue. The cost grows with the number of job names in it. */
  readonly queue?: string
  /** Only this job. The cost grows with the number of its queues. */
  readonly job?: string
  /**
   * Return one total, not broken down by queue and job. Alone, without other options, this costs the same however many names there
   * are.
   */
  readonly isSum?: boolean
  /** Also look up when the oldest ready jobs became due. */
  readonly oldest?: boolean
  /**
   * Return only the total of this workflow. Its jobs that ended and were deleted still count as long as at least one of its jobs
   * exists.
   */
  readonly root?: string
}

/** How many jobs of one key and queue are in each state. */
export interface JobCount {
  readonly queue: string
  readonly job: string
  readonly counts: Readonly<Record<JobState, number>>
  /** When the oldest of its ready jobs was due; null if none is ready. Present only if requested. */
  readonly oldestReadyAt?: number | null
}

export interface RemoveFilter {
  readonly state: FinalState
  readonly finishedBefore?: number
  readonly ids?: readonly string[]
  readonly queue?: string
  readonly job?: string
  readonly exceptJobs?: readonly string[]
  readonly limit: number
}

/** A job that another one waits for. The record is kept with the waiting job even after this job is deleted. */
export interface JobLink {
  readonly kind: 'dependency' | 'child'
  readonly id: string
  /** Null if no such job ever existed. */
  readonly job: string | null
  /** For a child: the key its parent gave it. */
  readonly key: string | null
  readonly onFailure: FailurePolicy
  /** How it ended, or its current state. */
  readonly state: JobState | 'missing'
  /** The waiting job cannot continue until this one has ended. */
  readonly waiting: boolean
  /** A JSON text. */
  readonly result: string | null
  /** Signs that end: see `verifyResult`. */
  readonly seal: string | null
  /** Why it did not succeed. */
  readonly error: string | null
}

/** A queue, or a key in any queue. */
export type Pausable = { readonly queue: string; readonly job?: never } | { readonly job: string; readonly queue?: never }

export interface Paused {
  readonly queues: readonly string[]
  readonly jobs: readonly string[]
}

/**
 * What to clean up:
 * - `waits`: checks blocked jobs, continuing where the last call ended, and resolves waits that would never end.
 * - `keys`: deletes kept idempotency keys and unique keys that have expired, at most `limit` of each.
 * - `logs`: deletes lines that were written while their jobs were being deleted, continuing where the last call ended.
 * - `rollups`: merges and deletes old buckets of statistics.
 * - `occurrences`: deletes those older than `before`, but never a schedule's last one that has ended, nor one that has not ended.
 *   Also deletes the records of schedules removed before then.
 */
export type SweepRequest =
  | { readonly part: 'waits' | 'keys' | 'logs' | 'rollups'; readonly limit: number }
  | { readonly part: 'occurrences'; readonly limit: number; readonly before: number }

export interface SweepReport {
  /** Fewer than the limit when the end is reached; the next call starts over. */
  readonly looked: number
  /** How many were resolved, merged or deleted. */
  readonly changed: number
}

export interface ProgressReport {
  readonly token: string
  readonly progress: string
}
