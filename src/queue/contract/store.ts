import type { FinalState, JobState } from './job-state.ts'
import type { AmendAnswer, JobChange } from './jobs/job-change.ts'
import type { HeldLease, JobLink, JobRecord } from './jobs/job-record.ts'
import type { ClaimRules, Hold } from './limits.ts'
import type { ScheduleStore } from './schedule-store.ts'
import type { EventStore } from './stores/event-store.ts'
import type { LogStore } from './stores/log-store.ts'
import type { RollupStore } from './stores/rollup-store.ts'
import type { WorkerStore } from './stores/worker-store.ts'

export type { AmendAnswer, Amendment, JobChange, Rejection, Rescheduling } from './jobs/job-change.ts'
export type { HeldLease, JobLink, JobRecord } from './jobs/job-record.ts'

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

/** Which leases: those of these owners, or of these jobs. */
export type LeaseFilter = { readonly owners: readonly string[] } | { readonly ids: readonly string[] }

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
