import type { Clock } from '../../../core/time/clock.ts'
import type { RollupBucket, RollupStore } from '../../../queue/contract/rollup-store.ts'
import type { DurationHistogram } from '../../../queue/statistics/duration-histogram.ts'
import { RollupSum, RollupSums } from '../../../queue/statistics/rollup-cells.ts'
import type { Percentiles, Range, SeriesPoint, SeriesView } from '../shared/view.ts'

const minuteMs = 60_000
/** Shortest period from which rates are computed. */
const shortestMs = 10_000

/** For each chart: the length of a point, the number of points, and how long its data stays fresh. */
const charts: Readonly<Record<Range, { readonly stepMs: number; readonly points: number; readonly freshMs: number }>> = {
  '1h': { stepMs: minuteMs, points: 60, freshMs: 4_000 },
  '1d': { stepMs: 10 * minuteMs, points: 144, freshMs: 30_000 },
  '7d': { stepMs: 60 * minuteMs, points: 168, freshMs: 60_000 },
}

/** A job and its queue, to check who may see it. */
export interface Pair {
  readonly queue: string
  readonly job: string
}

export interface PairRates extends Pair {
  /** Jobs ended per minute. */
  readonly perMinute: number
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

interface Kept {
  readonly at: number
  readonly buckets: Promise<readonly RollupBucket[]>
}

/**
 * The charts, from the rollups that all workers of the queue maintain. Read once for all viewers, and only while
 * someone is watching.
 */
export class Series {
  readonly #rollups: RollupStore | null
  readonly #clock: Clock
  readonly #kept = new Map<Range, Kept>()

  constructor(rollups: RollupStore | undefined, clock: Clock) {
    this.#rollups = rollups ?? null
    this.#clock = clock
  }

  async read(range: Range, sees: (pair: Pair) => boolean): Promise<SeriesView> {
    const { stepMs, points } = charts[range]
    const from = Math.floor(this.#clock.now() / stepMs) * stepMs - (points - 1) * stepMs
    const sums = Array.from({ length: points }, () => new RollupSum('', ''))
    for (const bucket of await this.#buckets(range)) {
      const sum = sums[Math.floor((bucket.at - from) / stepMs)]
      if (sum !== undefined) for (const cell of bucket.cells) if (sees(cell)) sum.add(cell)
    }
    return { stepMs, isKept: this.#rollups !== null, points: sums.map((sum, index) => pointOf(sum, from + index * stepMs)) }
  }

  /** What happened in the last minutes; null if the engine keeps no statistics. */
  async recent(minutes: number, sees: (pair: Pair) => boolean): Promise<Recent | null> {
    if (this.#rollups === null) return null
    const now = this.#clock.now()
    const buckets = await this.#buckets('1h')
    const start = Math.max((Math.floor(now / minuteMs) - minutes + 1) * minuteMs, buckets[0]?.at ?? 0)
    const [total, pairs] = [new RollupSum('', ''), new RollupSums()]
    for (const { at, cells } of buckets) {
      if (at < start) continue
      const seen = cells.filter(sees)
      for (const cell of seen) total.add(cell)
      pairs.add(seen)
    }
    const { succeeded, retried, dead, wait, run } = total
    const watched = Math.max(shortestMs, now - start) / minuteMs
    return {
      minutes: watched,
      done: succeeded,
      failed: retried + dead,
      wait: percentilesOf(wait),
      run: percentilesOf(run),
      pairs: pairs.sums.map((sum) => ratesOf(sum, watched)).toSorted((a, b) => b.perMinute - a.perMinute),
    }
  }

  #buckets(range: Range): Promise<readonly RollupBucket[]> {
    const { stepMs, points, freshMs } = charts[range]
    const now = this.#clock.now()
    const kept = this.#kept.get(range)
    if (kept !== undefined && now >= kept.at && now - kept.at < freshMs) return kept.buckets
    const buckets = this.#rollups?.read(now - points * stepMs) ?? Promise.resolve([])
    this.#kept.set(range, { at: now, buckets })
    // Do not cache a failure: the next reader tries again.
    buckets.catch(() => {
      if (this.#kept.get(range)?.buckets === buckets) this.#kept.delete(range)
    })
    return buckets
  }
}

function pointOf({ succeeded, retried, dead, other, wait, run }: RollupSum, at: number): SeriesPoint {
  return { at, done: succeeded, retried, dead, other, wait: percentilesOf(wait), run: percentilesOf(run) }
}

function ratesOf(sum: RollupSum, minutes: number): PairRates {
  const { queue, job, retried, dead, attempts, run } = sum
  return { queue, job, attempts, failed: retried + dead, perMinute: (attempts - retried) / minutes, run: percentilesOf(run) }
}

function percentilesOf(histogram: DurationHistogram): Percentiles | null {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => histogram.percentile(share))
  return p50 == null || p95 == null || p99 == null ? null : [p50, p95, p99]
}
