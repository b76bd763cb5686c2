import type { Json } from '../core/json.ts'
import type { Envelope, FailurePolicy } from '../envelope/envelope.ts'
import type { AttemptError, DeadReason } from './failure.ts'
import type { ClaimRules, Hold } from './limits.ts'
import type { WorkerStore } from './presence.ts'

export const jobStates = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

/** `scheduled → ready → running → succeeded | dead | cancelled | skipped`; `blocked` waits for something other than time. */
export type JobState = (typeof jobStates)[number]

export function zeroCounts(): Record<JobState, number> {
  return { ready: 0, scheduled: 0, blocked: 0, running: 0, succeeded: 0, dead: 0, cancelled: 0, skipped: 0 }
}

export const finalStates = ['succeeded', 'dead', 'cancelled', 'skipped'] as const

export type FinalState = (typeof finalStates)[number]

export function isFinal(state: JobState): state is FinalState {
  return (finalStates as readonly JobState[]).includes(state)
}

/** Looking at jobs, and changing those that wait. */
export interface JobStore {
  get(id: string): Promise<JobRecord | null>
  /** Newest first. */
  list(filter: JobFilter): Promise<readonly JobRecord[]>
  /** Kept counters, not a count of rows. */
  counts(): Promise<readonly JobCount[]>
  /** Ends a waiting job as cancelled; asks the worker of a running one to stop. */
  cancel(id: string): Promise<'cancelled' | 'requested' | 'ended' | 'missing'>
  /** Moves a waiting job to another time. */
  reschedule(id: string, runAt: number): Promise<'moved' | 'claimed' | 'ended' | 'missing'>
  /**
   * Gives waiting jobs what these envelopes say, one after the other: another payload, time, queue, priority, identity and even
   * another `job`. Their ids, numbers, the instants at which they were made, their unique keys and how long those are held stay.
   */
  amend(amendments: readonly Amendment[]): Promise<readonly AmendAnswer[]>
  /** Puts ended jobs back, with all their attempts; the history of errors stays. */
  retry(ids: readonly string[]): Promise<readonly ('requeued' | 'active' | 'conflict' | 'missing')[]>
  /** Deletes ended jobs, at most `limit` of them. */
  remove(filter: RemoveFilter): Promise<number>
  /** Writes what running jobs say of their progress; a lease that is lost writes nothing. */
  report(reports: readonly ProgressReport[]): Promise<void>
  /** What these owners hold now, in the order in which they claimed it. */
  leases(owners: readonly string[]): Promise<readonly HeldLease[]>
  /** The leases under which these jobs run now, whoever holds them, in the order of the claims. */
  leasesOf(ids: readonly string[]): Promise<readonly HeldLease[]>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
  pausedQueues(): Promise<readonly string[]>
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
  /** The payload that it was made from: where the job has another one by now, nothing is changed. Null is any. */
  readonly expected: string | null
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

export interface JobRecord {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly state: JobState
  /** JSON texts, as they were written. */
  readonly payload: string
  readonly result: string | null
  readonly progress: string | null
  readonly meta: Readonly<Record<string, Json>>
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

export interface JobFilter {
  readonly state?: JobState
  readonly queue?: string
  readonly job?: string
  readonly group?: string
  /** Only the jobs of this workflow. */
  readonly root?: string
  /** Only jobs older than the one with this id, for the next page. */
  readonly before?: string
  readonly limit: number
}

export interface JobCount {
  readonly queue: string
  readonly job: string
  readonly counts: Readonly<Record<JobState, number>>
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
  /** Null where there never was such a job. */
  readonly job: string | null
  /** Of a child: what its parent calls it. */
  readonly key: string | null
  readonly onFailure: FailurePolicy
  /** How it ended, or where it stands now. */
  readonly state: JobState | 'missing'
  /** The job that waits can not go on before this one has ended. */
  readonly waiting: boolean
  /** A JSON text. */
  readonly result: string | null
  /** Why it did not succeed. */
  readonly error: string | null
}

export interface TreeCounts {
  readonly total: number
  readonly counts: Readonly<Record<JobState, number>>
}

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

/**
 * Recurring work: one row for each occurrence, unique by schedule and instant, however many schedulers there are. To withdraw
 * is to delete, as if they had never been stored, the occurrences whose jobs wait for their time and were never begun.
 */
export interface ScheduleStore {
  /** Records what the code says. Where an expression changed, occurrences that still wait under the old one are withdrawn. */
  register(schedules: readonly ScheduleEntry[]): Promise<void>
  /** Where schedules stand; all of them, or those with these names. */
  standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]>
  /** Another number whenever something but `enqueue` and the end of a run has changed a schedule. */
  revision(): Promise<number>
  /**
   * Stores each occurrence with its job, one after the other and all together, unless it was stored before, its schedule is
   * paused, or another job has its unique key. True where this call stored it. A schedule need not be registered.
   */
  enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]>
  /** The occurrence of each of these schedules at these instants, or null where it was never stored. */
  find(keys: readonly OccurrenceKey[]): Promise<readonly (OccurrenceRecord | null)[]>
  /** What a run of this occurrence must know of the others. */
  neighbours(key: OccurrenceKey): Promise<Neighbours>
  /** The last occurrences up to this instant, the latest first. */
  recent(schedule: string, upTo: number, limit: number): Promise<readonly OccurrenceRecord[]>
  /** Ends occurrences as skipped that wait and were never claimed; gives their number. */
  skipWaiting(request: SkipRequest): Promise<number>
  /** Stores no more occurrences and withdraws what waits for its time; false when there is no such schedule. */
  pause(name: string): Promise<boolean>
  /** Occurrences that fell into the pause are not missed ones. One that is not paused goes on as before. */
  resume(name: string): Promise<boolean>
  /** Deletes a schedule with its occurrences, withdraws what waits for its time, and ends as skipped what is due and was never begun. */
  remove(name: string): Promise<boolean>
  list(): Promise<readonly ScheduleRecord[]>
  /** Forgets occurrences older than this, at most `limit`, but never the last of a schedule that has ended, nor one that has not. */
  forget(before: number, limit: number): Promise<number>
}

export interface ScheduleEntry {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  /** Another text whenever the schedule, or what its runs are made of, has changed. */
  readonly version: string
}

export interface ScheduleStanding {
  readonly name: string
  /** Of the program that registered it last: during a deployment that may be another than this one. */
  readonly version: string
  /** Since when it is followed without a break: when it was first registered, last changed or last resumed. */
  readonly since: number
  readonly paused: boolean
  readonly latest: OccurrenceRecord | null
}

export interface OccurrenceKey {
  readonly schedule: string
  /** UTC milliseconds. */
  readonly at: number
}

export interface Occurrence extends OccurrenceKey {
  readonly envelope: Envelope
  /** Stored only while this is the schedule's latest occurrence; null is: while it has none. */
  readonly follows?: number | null
  /** Stored only while the schedule is registered with this version, if one is given. */
  readonly version?: string
}

/** Which occurrences of a schedule are not to run any more. One that was stored late is there to make up for something, and stays. */
export interface SkipRequest {
  readonly schedule: string
  readonly before: number
  /** Only those that nobody saw fall due: see `Neighbours.seen`. */
  readonly unseenOnly: boolean
  readonly why: string
}

/** It outlives its job. Once that has ended it says how; a job that is put back (`retry`) has not ended. */
export interface OccurrenceRecord extends OccurrenceKey {
  readonly jobId: string
  /** How its job ended, or null while it has not. */
  readonly outcome: FinalState | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export interface Neighbours {
  /** The earliest occurrence before this one whose job was claimed once and has not ended. */
  readonly unended: number | null
  /** Somebody was there to see it fall due: a later one was stored when this one was due already, or one that is still to come is there. */
  readonly seen: boolean
}

export interface ScheduleRecord extends ScheduleEntry {
  readonly since: number
  readonly paused: boolean
  /** The last occurrence that is due, and how it went. */
  readonly last: OccurrenceRecord | null
  readonly nextAt: number | null
}
