import type { Envelope } from '../../envelope/envelope.ts'
import type { FinalState } from './job-state.ts'

/**
 * Recurring work: one row for each occurrence, unique by schedule and instant, however many schedulers there are. To withdraw
 * is to delete, as if they had never been stored, the occurrences whose jobs wait for their time and were never begun.
 */
export interface ScheduleStore {
  /**
   * Records what the code says, or what was said at run time. Where an expression changed, occurrences that still wait under the old
   * one are withdrawn.
   */
  register(schedules: readonly ScheduleEntry[]): Promise<void>
  /** Where schedules stand, by their names; all of them, or those with these names. */
  standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]>
  /** A higher number whenever something but `enqueue` and the end of a run has changed a schedule. */
  revision(): Promise<number>
  /**
   * What has changed after this revision, the oldest change first, each schedule once, and at most `limit` of them; from 0 on, all
   * schedules. Schedules that were removed longer ago than occurrences are remembered are left out.
   */
  changes(since: number, limit: number): Promise<ScheduleChanges>
  /**
   * Stores each occurrence with its job, one after the other and all together, unless it was stored before, its schedule is
   * paused, or another job has its unique key. True where this call stored it. A schedule need not be registered.
   */
  enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]>
  /** The occurrence of each of these schedules at these instants, or null where it was never stored. */
  find(keys: readonly OccurrenceKey[]): Promise<readonly (OccurrenceRecord | null)[]>
  /** What a run of this occurrence must know of the others. */
  neighbours(key: OccurrenceKey): Promise<Neighbours>
  /** A scheduler is there while these are due: from now on they count as seen. What is not due yet, or not there, is left as it is. */
  markSeen(keys: readonly OccurrenceKey[]): Promise<void>
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
  /** All of them, or those that a filter names, in the order of their names. */
  list(filter?: ScheduleFilter): Promise<readonly ScheduleRecord[]>
  /**
   * Forgets occurrences older than this, at most `limit`, but never the last of a schedule that has ended, nor one that has not; and
   * that schedules were removed before it. Gives the number of occurrences.
   */
  forget(before: number, limit: number): Promise<number>
}

export interface ScheduleEntry {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  /** Another text whenever the schedule, or what its runs are made of, has changed. */
  readonly version: string
  /** What was said at run time; null, or nothing, of a schedule of the code. */
  readonly definition?: StoredDefinition | null
}

/** A schedule that is not in the code: what there is to know of it, as it was signed. See `openSchedule`. */
export interface StoredDefinition {
  readonly text: string
  readonly signature: string | null
}

/** Which schedules are meant; where both are given, those that fit both. */
export interface ScheduleFilter {
  readonly names?: readonly string[]
  /** Those whose names begin with it. */
  readonly prefix?: string
}

export interface ScheduleChanges {
  /** Everything up to this revision is contained. */
  readonly revision: number
  readonly changed: readonly ChangedSchedule[]
  /** There are more. */
  readonly hasMore: boolean
}

export interface ChangedSchedule {
  readonly name: string
  /** Null where it was removed. */
  readonly entry: (ScheduleEntry & { readonly definition: StoredDefinition | null }) | null
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
  /** Not stored where the schedule is not registered, either. */
  readonly registered?: true
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
  /**
   * Somebody was there to see it fall due: it, or a later one, was stored when it was due already, it was marked so, or one that
   * is still to come is there.
   */
  readonly seen: boolean
}

/** What the queue knows of a schedule: its state and its runs. */
export interface ScheduleRecord extends ScheduleEntry {
  readonly definition: StoredDefinition | null
  readonly since: number
  readonly paused: boolean
  /** The last occurrence that is due, and how it went. */
  readonly last: OccurrenceRecord | null
  readonly nextAt: number | null
}
