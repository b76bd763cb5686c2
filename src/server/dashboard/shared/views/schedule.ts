import type { State } from './job.ts'

export interface ScheduleRow {
  readonly name: string
  /** The key of a stored schedule; null if the schedule is in the code. */
  readonly key: string | null
  readonly job: string
  readonly expression: string
  readonly timezone: string
  /** Null if this program does not have the schedule in its code. */
  readonly words: string | null
  readonly state: 'active' | 'paused' | 'new' | 'disabled' | 'not in code' | 'ended' | 'unknown job' | 'rejected'
  readonly isRepeat: boolean
  readonly nextAt: number | null
  readonly last: RunView | null
}

export interface RunView {
  readonly at: number
  readonly jobId: string
  readonly outcome: State | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export interface ScheduleView extends ScheduleRow {
  /** For a stored schedule, the payload of each run as JSON; null if the schedule is in the code. */
  readonly payload: string | null
  /** The initial values of the form that edits it; null if the schedule is in the code. */
  readonly draft: ScheduleDraft | null
  readonly editRefusal: string | null
  readonly warnings: readonly string[]
  readonly next: readonly { readonly at: number; readonly local: string; readonly note: string | null }[]
  /** Latest first. */
  readonly recent: readonly RunView[]
}

/** A stored schedule as form values. An unset value is an empty string. */
export interface ScheduleDraft {
  readonly key: string
  readonly job: string
  readonly kind: 'cron' | 'every' | 'repeat'
  readonly said: string
  readonly timezone: string
  readonly until: string
  readonly misfire: '' | 'skip' | 'latest' | 'all'
  readonly overlap: '' | 'allow' | 'skip' | 'queue'
  /** JSON. */
  readonly payload: string
}

export type DraftField = keyof ScheduleDraft

/** What a draft would do. */
export interface DraftView {
  readonly words: string | null
  readonly next: readonly { readonly at: number; readonly local: string; readonly note: string | null }[]
  readonly warnings: readonly string[]
  readonly problems: readonly { readonly field: DraftField; readonly detail: string }[]
}

export interface CalendarView {
  readonly from: number
  readonly to: number
  readonly schedules: readonly CalendarRow[]
}

export interface CalendarRow {
  readonly name: string
  readonly state: ScheduleRow['state']
  readonly past: readonly RunView[]
  readonly future: readonly { readonly at: number; readonly note: string | null }[]
  /** Whether there are too many to list one by one. */
  readonly isDense: boolean
  /** Whether it is a repeat: its next runs depend on how long the previous ones take. */
  readonly isEstimate: boolean
}
