/** When recurring work is due: a pure function of time. */
export interface Schedule {
  /** Six cron fields, seconds first. */
  readonly expression: string
  /** The IANA zone in which the expression is read. */
  readonly timezone: string
  /** The first occurrence after `afterMs` (UTC milliseconds), or null when there is none. */
  next(afterMs: number): number | null
  /** The occurrence that `nowMs` lies in: the one of this second, or of this minute where the expression has no seconds. */
  current(nowMs: number): number | null
}
