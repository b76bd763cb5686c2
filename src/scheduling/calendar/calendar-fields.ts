/** The six fields of a cron expression, each as it is written. */
export interface CronFields {
  readonly second: string
  readonly minute: string
  readonly hour: string
  readonly dayOfMonth: string
  readonly month: string
  readonly dayOfWeek: string
}

/** Cron's fields and what the other ways to say a schedule add to them. */
export interface CalendarFields extends CronFields {
  readonly year: string
  /** Where both the day of month and the day of week are given: a day that fits either of them counts, or one that fits both. */
  readonly days: 'either' | 'both'
  /** What a star with a step names: every n-th value from the lowest (cron), or the values that n divides (objects). */
  readonly steps: 'counted' | 'divisible'
  /** Only these times of day; an empty list is the whole day. */
  readonly windows: readonly TimeWindow[]
}

/** A part of the day, in seconds after midnight, both ends included; `from` is never after `to`. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

/**
 * A fixed-time job names its times of day; one with a star among second, minute and hour follows elapsed time.
 * The difference shows where clocks change.
 */
export function isFixedTime({ second, minute, hour }: CronFields): boolean {
  return ![second, minute, hour].some((field) => field.includes('*'))
}
