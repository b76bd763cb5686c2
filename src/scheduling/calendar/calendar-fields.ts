/** The six fields of a cron expression, as written. */
export interface CronFields {
  readonly second: string
  readonly minute: string
  readonly hour: string
  readonly dayOfMonth: string
  readonly month: string
  readonly dayOfWeek: string
}

/** Cron's fields, plus what other ways of writing a schedule add. */
export interface CalendarFields extends CronFields {
  readonly year: string
  /** If both the day of month and the day of week are given: whether a day must match either of them or both. */
  readonly days: 'either' | 'both'
  /** The meaning of a star with a step: every n-th value from the lowest (cron), or the values divisible by n (objects). */
  readonly steps: 'counted' | 'divisible'
  /** Only these times of day; an empty list means the whole day. */
  readonly windows: readonly TimeWindow[]
}

/** A part of the day in seconds after midnight, both ends included; `from` is never after `to`. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/**
 * A fixed-time job names its times of day; one with a star in second, minute or hour follows elapsed time. They behave
 * differently when the clocks change.
 */
export function isFixedTime({ second, minute, hour }: CronFields): boolean {
  return ![second, minute, hour].some((field) => field.includes('*'))
}
