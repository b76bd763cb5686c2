import type { Json } from '../core/json.ts'
import type { Envelope } from '../envelope/envelope.ts'
import type { AttemptError, DeadReason } from './failure.ts'

export const jobStates = ['ready', 'scheduled', 'blocked', 'running', 'succeeded', 'dead', 'cancelled', 'skipped'] as const

/** `scheduled → ready → running → succeeded | dead | cancelled | skipped`; `blocked` waits for something other than time. */
export type JobState = (typeof jobStates)[number]

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
  /** Puts ended jobs back, with all their attempts; the history of errors stays. */
  retry(ids: readonly string[]): Promise<readonly ('requeued' | 'active' | 'conflict' | 'missing')[]>
  /** Deletes ended jobs, at most `limit` of them. */
  remove(filter: RemoveFilter): Promise<number>
  /** Writes what running jobs say of their progress; a lease that is lost writes nothing. */
  report(reports: readonly ProgressReport[]): Promise<void>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
  pausedQueues(): Promise<readonly string[]>
  readonly schedules: ScheduleStore
}

export interface JobRecord {
  readonly id: string
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
  /** How often its lease ran out because a worker died. */
  readonly rescues: number
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly schedule: string | null
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

export interface JobFilter {
  readonly state?: JobState
  readonly queue?: string
  readonly job?: string
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

export interface ProgressReport {
  readonly token: string
  readonly progress: string
}

/** Recurring work: one row for each occurrence, unique by schedule and instant, however many schedulers there are. */
export interface ScheduleStore {
  /** Records what the code says. Where an expression changed, occurrences that still wait under the old one are withdrawn. */
  register(schedules: readonly ScheduleEntry[]): Promise<void>
  /** Stores each occurrence's job unless that occurrence was stored before, ever. True where this call stored it. */
  enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]>
  list(): Promise<readonly ScheduleRecord[]>
  /** Forgets occurrences older than this, at most `limit`. */
  forget(before: number, limit: number): Promise<number>
}

export interface ScheduleEntry {
  readonly name: string
  readonly expression: string
  readonly timezone: string
}

export interface Occurrence {
  readonly schedule: string
  /** UTC milliseconds. */
  readonly at: number
  readonly envelope: Envelope
}

export interface ScheduleRecord extends ScheduleEntry {
  readonly lastAt: number | null
  readonly nextAt: number | null
}
