import type { Clock } from '../../../core/time/clock.ts'
import type { RollupBucket, RollupStore } from '../../../queue/contract/stores/rollup-store.ts'
import type { DurationHistogram } from '../../../queue/statistics/duration-histogram.ts'
import { RollupSum, RollupSums } from '../../../queue/statistics/rollup-cells.ts'
import type { Grant } from '../../access/grant.ts'
import type { Percentiles, Range, SeriesPoint, SeriesView } from '../shared/views/series.ts'

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
  /** What was computed from them, for all viewers with the same rights. */
  readonly views: WeakMap<Grant, Map<string, unknown>>
}

/**
 * The charts, from the rollups that all workers of the queue maintain. Read once for all viewers, and only while
 * someone is watching.
 */
export class Series {
  readonly #rollups: RollupStore | null
  readonly #clock: Clock
  readonly #read = new Map<Range, Kept>()

  constructor(rollups: RollupStore | undefined, clock: Clock) {
    this.#rollups = rollups ?? null
    this.#clock = clock
  }

  /** Of all jobs that these viewers may see, or of one queue. */
  async read(range: Range, grant: Grant, queue?: string): Promise<SeriesView> {
    const { buckets, views } = this.#kept(range)
    const found = await buckets
    return once(views, grant, `points ${queue ?? ''}`, () => this.#points(range, found, seenBy(grant, queue)))
  }

  /** What happened in the last minutes; null if the engine keeps no statistics. */
  async recent(minutes: number, grant: Grant): Promise<Recent | null> {
    if (this.#rollups === null) return null
    const { buckets, views } = this.#kept('1h')
    const found = await buckets
    return once(views, grant, `recent ${minutes}`, () => this.#recent(minutes, found, seenBy(grant)))
  }

  #points(range: Range, buckets: readonly RollupBucket[], sees: Sees): SeriesView {
    const { stepMs, points } = charts[range]
    const from = Math.floor(this.#clock.now() / stepMs) * stepMs - (points - 1) * stepMs
    const sums = Array.from({ length: points }, () => new RollupSum('', ''))
    for (const bucket of buckets) {
      const sum = sums[Math.floor((bucket.at - from) / stepMs)]
      if (sum !== undefined) for (const cell of bucket.cells) if (sees(cell)) sum.add(cell)
    }
    return { stepMs, isKept: this.#rollups !== null, points: sums.map((sum, index) => pointOf(sum, from + index * stepMs)) }
  }

  #recent(minutes: number, buckets: readonly RollupBucket[], sees: Sees): Recent {
    const now = this.#clock.now()
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

  #kept(range: Range): Kept {
    const { stepMs, points, freshMs } = charts[range]
    const now = this.#clock.now()
    const known = this.#read.get(range)
    if (known !== undefined && now >= known.at && now - known.at < freshMs) return known
    const buckets = this.#rollups?.read(now - points * stepMs) ?? Promise.resolve([])
    const kept: Kept = { at: now, buckets, views: new WeakMap() }
    this.#read.set(range, kept)
    // Do not cache a failure: the next reader tries again.
    buckets.catch(() => {
      if (this.#read.get(range) === kept) this.#read.delete(range)
    })
    return kept
  }
}

type Sees = (pair: Pair) => boolean

function seenBy(grant: Grant, queue?: string): Sees {
  return (pair) => (queue === undefined || pair.queue === queue) && grant.sees(pair)
}

function once<View>(views: Kept['views'], grant: Grant, name: string, compute: () => View): View {
  const known = views.get(grant) ?? new Map<string, unknown>()
  views.set(grant, known)
  if (!known.has(name)) known.set(name, compute())
  return known.get(name) as View
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
