/**
 * Job history aggregated by the minute: how many jobs ended in which way, and how long they waited and ran. Older minutes are
 * merged into longer buckets, and deleted after eight days. Each bucket holds a bounded number of queue and job pairs. Writers
 * flush every few seconds, so a crash loses that much of a chart, but never a job.
 */
export interface RollupStore {
  /** Adds to the bucket of the current minute, by the queue's clock. */
  add(cells: readonly RollupCell[]): Promise<void>
  /** The buckets that end after this instant, oldest first. No run is counted twice. */
  read(from: number): Promise<readonly RollupBucket[]>
}

export interface RollupBucket {
  /** Its first instant, and its length. */
  readonly at: number
  readonly stepMs: number
  readonly cells: readonly RollupCell[]
}

/** The history of one job in one queue. */
export interface RollupCell {
  readonly queue: string
  readonly job: string
  readonly succeeded: number
  /** Failed attempts that are retried. */
  readonly retried: number
  readonly dead: number
  /** Cancelled or skipped. */
  readonly other: number
  /** Histograms of wait and run times: see `durationBounds`. Trailing zeros may be left out. */
  readonly wait: readonly number[]
  readonly run: readonly number[]
}
