import type { Envelope } from '../../envelope/envelope.ts'
import type { FinalState } from './job-state.ts'

/**
 * Recurring work: one row per occurrence, unique by schedule and instant, however many schedulers run. To withdraw occurrences
 * means to delete those whose jobs are not due yet and were never begun, as if they had never been stored.
 */
export interface ScheduleStore {
  /**
   * Records schedules defined in code or at run time. If an expression changed, occurrences that still wait under the old one are
   * withdrawn.
   */
  register(schedules: readonly ScheduleEntry[]): Promise<void>
  /** Pauses, resumes or deletes a schedule. False if there is no such schedule. */
  change(name: string, change: ScheduleChange): Promise<boolean>
  /** All schedules, or those that match the filter, ordered by name. */
  list(filter?: ScheduleFilter): Promise<readonly ScheduleRecord[]>
  /** The current standing of schedules, ordered by name: all of them, or only the named ones. Cheaper than `list`. */
  standings(names?: readonly string[]): Promise<readonly ScheduleStanding[]>
  /**
   * Changes after this revision, oldest first, each schedule once, at most `limit` of them; with 0, all schedules. Leaves out
   * schedules that were removed longer ago than occurrences are retained. Asking costs little if nothing has changed.
   */
  changes(since: number, limit: number): Promise<ScheduleChanges>
  /**
   * Stores the occurrences with their jobs, in order and in one transaction. Skips an occurrence that was stored before, whose
   * schedule is paused, or whose unique key belongs to another job. Returns true for each that this call stored. A schedule need
   * not be registered.
   */
  enqueue(occurrences: readonly Occurrence[]): Promise<readonly boolean[]>
  /** Stored occurrences: by their keys, with null for each that was never stored, or the last ones of a schedule. */
  occurrences(query: OccurrenceQuery): Promise<readonly (OccurrenceRecord | null)[]>
  /** What a run of this occurrence must know about the others. */
  neighbours(key: OccurrenceKey): Promise<Neighbours>
  /** Marks due occurrences as seen by a running scheduler. Those that are not due yet or do not exist are left alone. */
  markSeen(keys: readonly OccurrenceKey[]): Promise<void>
  /** Ends waiting occurrences that were never claimed as skipped. Returns how many. */
  skipWaiting(request: SkipRequest): Promise<number>
}

/**
 * - `pause`: stores no more occurrences, and withdraws those that are not due yet.
 * - `resume`: occurrences that fell into the pause do not count as missed. No effect on a schedule that is not paused.
 * - `remove`: deletes the schedule and its occurrences. Withdraws those that are not due yet, and ends those that are due but were
 *   never begun as skipped.
 */
export type ScheduleChange = 'pause' | 'resume' | 'remove'

/** These occurrences, or the last ones of a schedule up to an instant, latest first. */
export type OccurrenceQuery =
  | { readonly keys: readonly OccurrenceKey[] }
  | { readonly schedule: string; readonly upTo: number; readonly limit: number }

export interface ScheduleEntry {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  /** Changes whenever the schedule, or anything its runs are made of, changes. */
  readonly version: string
  /** The definition of a schedule created at run time; null or absent for a schedule defined in code. */
  readonly definition?: StoredDefinition | null
}

/** The full, signed definition of a schedule that is not in the code. See `openSchedule`. */
export interface StoredDefinition {
  readonly text: string
  readonly signature: string | null
}

/** Which schedules to return. If both are given, both must match. */
export interface ScheduleFilter {
  readonly names?: readonly string[]
  /** Schedules whose names begin with this. */
  readonly prefix?: string
}

export interface ScheduleChanges {
  /**
   * Includes every change up to this revision. It increases whenever a schedule is changed by anything other than `enqueue` or
   * the end of a run.
   */
  readonly revision: number
  readonly changed: readonly ChangedSchedule[]
  /** Whether there are more changes. */
  readonly hasMore: boolean
}

export interface ChangedSchedule {
  readonly name: string
  /** Null if it was removed. */
  readonly entry: (ScheduleEntry & { readonly definition: StoredDefinition | null }) | null
}

export interface ScheduleStanding {
  readonly name: string
  /** From the program that registered it last, which during a deployment may be a different one. */
  readonly version: string
  /** Since when it has been followed without a break: when it was first registered, last changed or last resumed. */
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
  /** Store it only while this is the schedule's latest occurrence; null means while the schedule has none. */
  readonly follows?: number | null
  /** Store it only while the schedule is registered with this version, if given. */
  readonly version?: string
  /** Store it only if the schedule is registered. */
  readonly registered?: true
}

/** Occurrences of a schedule that should no longer run. One that was stored late makes up for a missed run and is kept. */
export interface SkipRequest {
  readonly schedule: string
  readonly before: number
  /** Only those that no scheduler saw fall due: see `Neighbours.seen`. */
  readonly unseenOnly: boolean
  readonly why: string
}

/** Outlives its job and records how that ended. A job that is put back (`retry`) counts as not ended. */
export interface OccurrenceRecord extends OccurrenceKey {
  readonly jobId: string
  /** How its job ended; null until then. */
  readonly outcome: FinalState | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export interface Neighbours {
  /** The earliest occurrence before this one whose job was claimed at least once and has not ended. */
  readonly unended: number | null
  /**
   * Whether a scheduler was running when it fell due: it or a later one was stored when already due, it was marked as seen, or a
   * future occurrence is stored.
   */
  readonly seen: boolean
}

/** Everything the queue knows about a schedule: its state and its runs. */
export interface ScheduleRecord extends ScheduleEntry {
  readonly definition: StoredDefinition | null
  readonly since: number
  readonly paused: boolean
  /** The last due occurrence, and how it went. */
  readonly last: OccurrenceRecord | null
  readonly nextAt: number | null
}

/** The last occurrences of a schedule up to an instant, latest first. */
export async function lastOccurrences(
  schedules: Pick<ScheduleStore, 'occurrences'>,
  schedule: string,
  upTo: number,
  limit: number,
): Promise<readonly OccurrenceRecord[]> {
  return (await schedules.occurrences({ schedule, upTo, limit })).flatMap((record) => record ?? [])
}
