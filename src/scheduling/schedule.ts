import type { CalendarFields } from './calendar/calendar-fields.ts'

/** When recurring work is due: at calendar times, or counted from the previous run. */
export type Schedule = CalendarSchedule | RepeatSchedule

/** A pure function of time. All instants are UTC milliseconds, and occurrences are whole seconds. */
export interface CalendarSchedule extends Explainable {
  readonly kind: 'calendar'
  readonly fields: CalendarFields
  /** The first occurrence after `afterMs`, or null if there is none. */
  next(afterMs: number): number | null
  /** The last occurrence before `beforeMs`, or null if there is none. */
  previous(beforeMs: number): number | null
  /** Whether an occurrence falls on this instant. */
  matches(instantMs: number): boolean
  /** The occurrence at `nowMs`: in the same second, or in the same minute if the schedule has no seconds. */
  current(nowMs: number): number | null
}

/** Each occurrence depends on the previous run, so it is unknown until that run has ended. */
export interface RepeatSchedule extends Explainable {
  readonly kind: 'repeat'
  readonly base: RepeatBase
  following(run: EndedRun): number
  /** The occurrence after `afterMs`, assuming that the run at `afterMs` takes no time. */
  next(afterMs: number): number
}

/** The moment that a repeat counts from. */
export type RepeatBase = 'SCHEDULED' | 'STARTED' | 'FINISHED'

/** The times of a finished run, which a repeat counts from. UTC milliseconds. */
export interface EndedRun {
  readonly scheduledAt: number
  readonly startedAt: number
  readonly finishedAt: number
}

interface Explainable {
  /** Canonical text: schedules with the same expression and time zone have the same occurrences. */
  readonly expression: string
  /** The IANA time zone of the expression. */
  readonly timezone: string
  explain(options?: ExplainOptions): Explanation
}

/** Options for explaining a schedule. */
export interface ExplainOptions {
  /** List the occurrences after this instant. */
  readonly from: number
  readonly count?: number
  /** The time zone to show them in; defaults to that of the schedule. */
  readonly zone?: string
}

/** A schedule in words, with its next occurrences and warnings. */
export interface Explanation {
  /** A sentence: "At 02:30 from Monday to Friday, Europe/Paris time". */
  readonly text: string
  readonly occurrences: readonly ExplainedOccurrence[]
  /** What is probably a mistake or easily misread. */
  readonly warnings: readonly string[]
}

/** One occurrence of an explained schedule, in UTC and on the clock of its zone. */
export interface ExplainedOccurrence {
  readonly at: number
  /** The local time with its offset: "2027-03-28 03:00:00 +02:00". */
  readonly local: string
  /** If the clock changes: that the time is skipped, or occurs twice. */
  readonly note: string | null
}
