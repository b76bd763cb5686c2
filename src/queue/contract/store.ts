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
  cancel(id: string): Promise<'cancelled' | 'requested' | 'ended' | 'missing'>
  /** Moves a waiting job to another time. */
  reschedule(id: string, runAt: number): Promise<'moved' | 'claimed' | 'ended' | 'missing'>
  /**
   * Replaces the envelopes of waiting jobs, one after the other. An amendment may change the payload, time, queue, priority,
   * identity and even `job`. Ids, numbers, creation times, unique keys and how long those are held stay the same.
   */
  amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]>
  /**
   * Ends waiting jobs as dead (`rejected`), one after the other. For jobs that were inspected and found to be forged or spoilt.
   */
  reject(rejections: readonly Rejection[]): Promise<readonly RejectAnswer[]>
  /** Puts ended jobs back in the queue with all their attempts. Their error history is kept. */
  retry(ids: readonly string[]): Promise<readonly ('requeued' | 'active' | 'conflict' | 'missing')[]>
  /** Deletes ended jobs, at most `limit` of them. */
  remove(filter: RemoveFilter): Promise<number>
  /** Stores the progress that running jobs report. Reports for a lost lease are ignored. */
  report(reports: readonly ProgressReport[]): Promise<void>
  /** The leases that these owners hold now, in the order of their claims. */
  leases(owners: readonly string[]): Promise<readonly HeldLease[]>
  /** The current leases of these jobs, held by any worker, in the order of their claims. */
  leasesOf(ids: readonly string[]): Promise<readonly HeldLease[]>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
  pausedQueues(): Promise<readonly string[]>
  /** Stops claims of this key, from any queue, until it is resumed. */
  pauseJob(job: string): Promise<void>
  resumeJob(job: string): Promise<void>
  pausedJobs(): Promise<readonly string[]>
  /** Which of these limits keep a ready job from being claimed now. Empty if it may be claimed or is not ready. */
  holds(id: string, rules: ClaimRules): Promise<readonly Hold[]>
  /**
   * What a job waits for, or has waited for: its dependencies in their order, then its children in the order of their creation.
   */
  links(id: string): Promise<readonly JobLink[]>
  /** Progress of a workflow. Jobs that ended and were deleted still count as long as at least one of its jobs exists. */
  tree(root: string): Promise<TreeCounts>
  /**
   * Cancels a job together with everything it created and everything that waits for it. If the id is that of a workflow instead
   * of a job, cancels all of its jobs. Running jobs are asked to stop.
   */
  cancelTree(id: string): Promise<TreeCancellation>
  /** Checks up to `limit` blocked jobs, continuing where the last call ended, and resolves waits that would never end. */
  mend(limit: number): Promise<MendReport>
  readonly schedules: ScheduleStore
  readonly workers: WorkerStore
  readonly numbers: JobNumbers
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
  /** The numbers of these jobs, assigning one to each job that has none. Null if the job does not exist. */
  assign(ids: readonly string[]): Promise<readonly (number | null)[]>
  /** The ids of the jobs with these numbers; null if there is none. */
  find(numbers: readonly number[]): Promise<readonly (string | null)[]>
}

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

export type AmendAnswer = 'amended' | 'changed' | 'claimed' | 'ended' | 'missing'

/** A waiting job that must not run because its envelope was refused. */
export interface Rejection {
  readonly id: string
  /** The envelope that was refused. If the job has another one by now, it is left alone. */
  readonly expected: Seal
  readonly error: AttemptError
}

export type RejectAnswer = 'rejected' | Exclude<AmendAnswer, 'amended'>

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
  /** Return only totals, not broken down by queue and job. This costs the same however many names there are. */
  readonly isSum?: boolean
  /** Also look up when the oldest ready jobs became due. */
  readonly oldest?: boolean
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

/** How many jobs of a workflow are in each state. */
export interface TreeCounts {
  readonly total: number
  readonly counts: Readonly<Record<JobState, number>>
}

/** The effect of cancelling a whole workflow. */
export interface TreeCancellation {
  readonly cancelled: number
  /** Running jobs that were asked to stop. */
  readonly requested: number
  /** Jobs that had already ended. */
  readonly ended: number
}

export interface MendReport {
  /** Fewer than the limit when the end is reached; the next call starts over. */
  readonly looked: number
  readonly mended: number
}

export interface ProgressReport {
  readonly token: string
  readonly progress: string
}
