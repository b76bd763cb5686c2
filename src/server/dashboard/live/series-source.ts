import type { Percentiles, Range, SeriesView } from '../shared/view.ts'

/** A job of a queue, as far as it matters who may see it. */
export interface Pair {
  readonly queue: string
  readonly job: string
}

export interface PairRates extends Pair {
  /** Ends per minute. */
  readonly perMinute: number
  readonly ended: number
  readonly attempts: number
  readonly failed: number
  readonly run: Percentiles | null
}

export interface Recent {
  readonly minutes: number
  readonly done: number
  readonly failed: number
  readonly wait: Percentiles | null
  readonly run: Percentiles | null
  /** Busiest first. */
  readonly pairs: readonly PairRates[]
}

/** Where the charts come from. What keeps them in memory now can give way to what keeps them in the queue. */
export interface SeriesSource {
  /** When the looking began. */
  readonly since: number
  read(range: Range, sees: (pair: Pair) => boolean): SeriesView
  /** The last `minutes`, or as many of them as were seen; null before the first sample that can be compared with one before it. */
  recent(minutes: number, sees: (pair: Pair) => boolean): Recent | null
  /** Jobs per minute that came into a queue, and that ended, over the last five minutes. */
  flow(queue: string): { readonly in: number; readonly out: number } | null
  close(): void
}
