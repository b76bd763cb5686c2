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

/** Looking at jobs, and changing those that wait. */
export interface JobStore {
  get(id: string): Promise<JobRecord | null>
  /** Newest first. */
  list(filter: JobFilter): Promise<readonly JobRecord[]>
  /** Kept counters, not a count of rows; with the age of what waits at the cost of one look into an index for each lane. */
  counts(options?: CountOptions): Promise<readonly JobCount[]>
  /** Ends a waiting job as cancelled; asks the worker of a running one to stop. */
  cancel(id: string): Promise<'cancelled' | 'requested' | 'ended' | 'missing'>
  /** Moves a waiting job to another time. */
  reschedule(id: string, runAt: number): Promise<'moved' | 'claimed' | 'ended' | 'missing'>
  /**
   * Gives waiting jobs what these envelopes say, one after the other: another payload, time, queue, priority, identity and even
   * another `job`. Their ids, numbers, the instants at which they were made, their unique keys and how long those are held stay.
   */
  amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]>
  /** Ends waiting jobs as dead (`rejected`), one after the other: those that somebody has looked at and found to be forged or spoilt. */
  reject(rejections: readonly Rejection[]): Promise<readonly RejectAnswer[]>
  /** Puts ended jobs back, with all their attempts; the history of errors stays. */
  retry(ids: readonly string[]): Promise<readonly ('requeued' | 'active' | 'conflict' | 'missing')[]>
  /** Deletes ended jobs, at most `limit` of them. */
  remove(filter: RemoveFilter): Promise<number>
  /** Writes what running jobs say of their progress; a lease that is lost writes nothing. */
  report(reports: readonly ProgressReport[]): Promise<void>
  /** What these owners hold now, in the order in which they claimed it. */
  leases(owners: readonly string[]): Promise<readonly HeldLease[]>
  /** The current leases of these jobs, of any worker, in the order of the claims. */
  leasesOf(ids: readonly string[]): Promise<readonly HeldLease[]>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
  pausedQueues(): Promise<readonly string[]>
  /** Nothing with this key is claimed, from any queue, until it is resumed. */
  pauseJob(job: string): Promise<void>
  resumeJob(job: string): Promise<void>
  pausedJobs(): Promise<readonly string[]>
  /** Which of these limits keep a ready job from being claimed now; none where it may be claimed, or is not ready. */
  holds(id: string, rules: ClaimRules): Promise<readonly Hold[]>
  /** What a job waits for, or has waited for: its dependencies in their order, then its children in the order of their making. */
  links(id: string): Promise<readonly JobLink[]>
  /** How far a workflow is. Its jobs that ended and were deleted count as long as one of the others is there. */
  tree(root: string): Promise<TreeCounts>
  /**
   * Cancels a job with everything that it made and everything that waits for it, or, where the id is that of a workflow and not
   * of a job, all of its jobs. Those that run are asked to stop.
   */
  cancelTree(id: string): Promise<TreeCancellation>
  /** Looks at up to `limit` waiting jobs, going on where the last call ended, and settles what they wait for in vain. */
  mend(limit: number): Promise<MendReport>
  readonly schedules: ScheduleStore
  readonly workers: WorkerStore
  readonly numbers: JobNumbers
  /** What jobs have logged. Absent where the engine keeps none. */
  readonly logs?: LogStore
  /** What happened, summed up for charts. Absent where the engine keeps none. */
  readonly rollups?: RollupStore
  /** What happens in all processes, while somebody listens. Absent where the engine cannot tell. */
  readonly events?: EventStore
}

/** Small numbers for jobs: from 1 on, and never one of them twice. There may be gaps. */
export interface JobNumbers {
  /** The first of so many numbers in a row that nobody else ever gets, for envelopes that are still to be sent. */
  reserve(count: number): Promise<number>
  /** The numbers of these jobs; one that has none is given one. Null where there is no such job. */
  assign(ids: readonly string[]): Promise<readonly (number | null)[]>
  /** The ids of the jobs that have these numbers, or null. */
  find(numbers: readonly number[]): Promise<readonly (string | null)[]>
}

export interface Amendment {
  readonly id: string
  /** What it was made from: where the job has another payload, identity or signature by now, nothing is changed. Null is any. */
  readonly expected: Seal | null
  /** With the same id, sealed anew. */
  readonly envelope: Envelope
  /**
   * Also while it runs, and when it has ended. Its state stays as it is, and so does its lease: whoever holds it has the envelope
   * as it was, but where the lease is lost the job comes back with what was written.
   */
  readonly inAnyState?: true
  /** The job's time stays what it is by then, whatever the envelope says: it may have been moved since the envelope was made. */
  readonly keepsTime?: true
}

export type AmendAnswer = 'amended' | 'changed' | 'claimed' | 'ended' | 'missing'

/** A waiting job that must not run: its envelope was not what it should be. */
export interface Rejection {
  readonly id: string
  /** The envelope that was refused: where the job has another one by now, it is left alone. */
  readonly expected: Seal
  readonly error: AttemptError
}

export type RejectAnswer = 'rejected' | Exclude<AmendAnswer, 'amended'>

/** Everything that the queue knows of a job. */
export interface JobRecord {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly state: JobState
  /** The text that was signed beside the payload, and the signature: see `openEnvelope`. All other fields are as trustworthy as the database. */
  readonly identity: string
  readonly signature: string | null
  /** JSON texts, as they were written. */
  readonly payload: string
  readonly result: string | null
  /** Of the result and of the job's having ended with it: see `verifyResult`. */
  readonly seal: string | null
  readonly progress: string | null
  readonly meta: Readonly<Record<string, Json>>
  /** Words that people find it by. */
  readonly tags: readonly string[]
  /** Attempts that were started and not given back. */
  readonly attempts: number
  readonly maxRetries: number
  /** After so much time an attempt has failed; null is no limit. */
  readonly timeoutMs: number | null
  readonly singleInstance: boolean
  /** When it is to be done again after it has been done, in the repeat language; null where it is done once. */
  readonly repeat: string | null
  /** How often its lease ran out because a worker died. */
  readonly rescues: number
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly schedule: string | null
  /** The instant that a scheduled run stands for. */
  readonly occurrence: number | null
  readonly group: string | null
  /** The job that made it and waits for it. */
  readonly parent: string | null
  /** What all jobs of its workflow have in common; null where it stands alone. */
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
  /** What is wrong with its row, where somebody else has written to it: what could not be read is left out or moved into bounds. */
  readonly spoilt?: readonly string[]
}

/** A lease, as somebody sees it who does not run its job: without the payload. */
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
  /** Only jobs older than the one with this id, for the next page. */
  readonly before?: string
  readonly limit: number
}

export interface CountOptions {
  /** Only of this queue, at the cost of its jobs' names. */
  readonly queue?: string
  /** Only of this job, at the cost of its queues. */
  readonly job?: string
  /** How they are divided by queues and jobs does not matter: their sums are all that is asked for, and cost the same for any number of names. */
  readonly isSum?: boolean
  /** Since when the oldest ready jobs wait is looked up, too. */
  readonly oldest?: boolean
}

/** How many jobs of one key and queue are in each state. */
export interface JobCount {
  readonly queue: string
  readonly job: string
  readonly counts: Readonly<Record<JobState, number>>
  /** When the oldest of its ready jobs was due; null where none is ready. Only where it was asked for. */
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

/** One job that another one waits for. It is remembered with the one that waits, however soon it is deleted itself. */
export interface JobLink {
  readonly kind: 'dependency' | 'child'
  readonly id: string
  /** Null where no such job ever existed. */
  readonly job: string | null
  /** Of a child: what its parent calls it. */
  readonly key: string | null
  readonly onFailure: FailurePolicy
  /** How it ended, or where it stands now. */
  readonly state: JobState | 'missing'
  /** The job that waits cannot go on before this one has ended. */
  readonly waiting: boolean
  /** A JSON text. */
  readonly result: string | null
  /** Of that end: see `verifyResult`. */
  readonly seal: string | null
  /** Why it did not succeed. */
  readonly error: string | null
}

/** How many jobs of a workflow are in each state. */
export interface TreeCounts {
  readonly total: number
  readonly counts: Readonly<Record<JobState, number>>
}

/** What cancelling a whole workflow did. */
export interface TreeCancellation {
  readonly cancelled: number
  /** Asked to stop. */
  readonly requested: number
  /** Had ended already. */
  readonly ended: number
}

export interface MendReport {
  /** Less than were asked for when there are no more: the next call begins anew. */
  readonly looked: number
  readonly mended: number
}

export interface ProgressReport {
  readonly token: string
  readonly progress: string
}
