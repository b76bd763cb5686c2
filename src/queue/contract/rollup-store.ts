/**
 * What happened to jobs, summed up by the minute: how many ended how, and how long they waited and ran. Older minutes are folded into
 * longer buckets, and deleted after eight days. Each bucket holds a bounded number of pairs of a queue and a job. Writers add what they
 * have gathered every few seconds, so a crash loses that much of a chart, and no job.
 */
export interface RollupStore {
  /** Adds to the bucket of this minute, by the queue's clock. */
  add(cells: readonly RollupCell[]): Promise<void>
  /** The buckets that end after this instant, oldest first. No run is counted in two of them. */
  read(from: number): Promise<readonly RollupBucket[]>
  /** Folds and deletes what is old enough. Gives how many buckets went into others, or away. */
  sweep(): Promise<number>
}

export interface RollupBucket {
  /** Its first instant, and how long it is. */
  readonly at: number
  readonly stepMs: number
  readonly cells: readonly RollupCell[]
}

/** What happened to one job of one queue. */
export interface RollupCell {
  readonly queue: string
  readonly job: string
  readonly succeeded: number
  /** Attempts that failed and are tried again. */
  readonly retried: number
  readonly dead: number
  /** Cancelled or skipped. */
  readonly other: number
  /** Between which bounds waits and runs lay: see `durationBounds`. Zeros at the end may be left out. */
  readonly wait: readonly number[]
  readonly run: readonly number[]
}
