import { type Outcome, outcomeWords } from '../../execution/end/outcome.ts'

/** What a worker did: the number of runs by outcome, and of occurrences that were enqueued. */
export interface RunReport {
  /** Occurrences of schedules that were enqueued. */
  readonly enqueued: number
  /** Number of failures to enqueue an occurrence of a schedule. */
  readonly failedSchedules: number
  readonly succeeded: number
  readonly retried: number
  readonly snoozed: number
  /** Jobs that now wait for their children. */
  readonly waiting: number
  readonly dead: number
  readonly cancelled: number
  readonly skipped: number
  /** Runs whose lease was lost, so that their outcome does not count. */
  readonly lost: number
  /** Jobs returned to the queue unfinished. */
  readonly released: number
}

export type Tally = { -readonly [Count in keyof RunReport]: RunReport[Count] }

export function emptyTally(): Tally {
  return {
    enqueued: 0,
    failedSchedules: 0,
    succeeded: 0,
    retried: 0,
    snoozed: 0,
    waiting: 0,
    dead: 0,
    cancelled: 0,
    skipped: 0,
    lost: 0,
    released: 0,
  }
}

export function addReport(tally: Tally, report: RunReport): void {
  for (const name of Object.keys(tally) as (keyof RunReport)[]) tally[name] += report[name]
}

export function count(tally: Tally, outcome: Outcome['kind']): void {
  tally[outcomeWords[outcome]]++
}
