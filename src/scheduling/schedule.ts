import type { CalendarFields } from './calendar/calendar-fields.ts'

/** When recurring work is due: at times of the calendar, or counted from the run before. */
export type Schedule = CalendarSchedule | RepeatSchedule

/** A pure function of time. All instants are UTC milliseconds, and occurrences are whole seconds. */
export interface CalendarSchedule extends Explainable {
  readonly kind: 'calendar'
  readonly fields: CalendarFields
  /** The first occurrence after `afterMs`, or null when there is none. */
  next(afterMs: number): number | null
  /** The last occurrence before `beforeMs`, or null when there is none. */
  previous(beforeMs: number): number | null
  /** Whether an occurrence falls on this instant. */
  matches(instantMs: number): boolean
  /** The occurrence that `nowMs` lies in: the one of this second, or of this minute where the schedule has no seconds. */
  current(nowMs: number): number | null
}

/** The next occurrence follows from the last one's run: nobody knows it before that run has ended. */
export interface RepeatSchedule extends Explainable {
  readonly kind: 'repeat'
  readonly base: RepeatBase
  following(run: EndedRun): number
  /** The occurrence after `afterMs` if the run at `afterMs` took no time. */
  next(afterMs: number): number
}

/** The time that a repeat is counted from. */
export type RepeatBase = 'SCHEDULED' | 'STARTED' | 'FINISHED'

/** The times of a finished run, from which a repeat is counted. UTC milliseconds. */
export interface EndedRun {
  readonly scheduledAt: number
  readonly startedAt: number
  readonly finishedAt: number
}

interface Explainable {
  /** One text for one meaning: schedules with the same expression and zone have the same occurrences. */
  readonly expression: string
  /** The IANA zone in which the expression is read. */
  readonly timezone: string
  explain(options?: ExplainOptions): Explanation
}

/** Options for explaining a schedule. */
export interface ExplainOptions {
  /** Occurrences after this instant are listed. */
  readonly from: number
  readonly count?: number
  /** The zone in which they are shown; the schedule's own unless given. */
  readonly zone?: string
}

/** A schedule in words, with its next occurrences and warnings. */
export interface Explanation {
  /** A sentence: "At 02:30 from Monday to Friday, Europe/Paris time". */
  readonly text: string
  readonly occurrences: readonly ExplainedOccurrence[]
  /** What is probably not meant, or is easily misread. */
  readonly warnings: readonly string[]
}

/** One occurrence of an explained schedule, in UTC and on the clock of its zone. */
export interface ExplainedOccurrence {
  readonly at: number
  /** On the wall clock of the zone, with the offset: "2027-03-28 03:00:00 +02:00". */
  readonly local: string
  /** Where the clock changes: that the time is skipped, or shown twice. */
  readonly note: string | null
}
