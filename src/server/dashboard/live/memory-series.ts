import type { Treadle } from '../../../app/treadle.ts'
import { type Clock, stopwatchOf, type Timer } from '../../../core/time/clock.ts'
import type { JobCount, JobRecord, JobStore } from '../../../queue/contract/store.ts'
import type { Range, SeriesPoint, SeriesView } from '../shared/view.ts'
import { Histogram } from './histogram.ts'
import type { Pair, PairRates, Recent, SeriesSource } from './series-source.ts'
import type { Snapshots } from './snapshots.ts'

const minuteMs = 60_000
const sampleMs = 5_000
/** A sample takes at most this share of the time. */
const restFactor = 50
const mostPairs = 50
const mostFollowed = 50
const others = '(other)'

interface Ring {
  readonly stepMs: number
  readonly buckets: number
  readonly byStart: Map<number, Bucket>
}

type Bucket = Map<string, Cell>

class Cell {
  done = 0
  retried = 0
  dead = 0
  other = 0
  readonly wait = new Histogram()
  readonly run = new Histogram()
  readonly queue: string
  readonly job: string

  constructor({ queue, job }: Pair) {
    this.queue = queue
    this.job = job
  }
}
const keptFlowsMs = 5 * minuteMs

export interface MemorySeriesDeps {
  readonly jobs: Treadle
  readonly store: JobStore
  readonly snapshots: Snapshots
  readonly clock: Clock
}

/**
 * What happens, as far as this process sees it: the kept counters are compared with what they were, the jobs that run are looked at,
 * and the events of workers in this process are counted. Bounded, and gone with the process.
 */
export class MemorySeries implements SeriesSource {
  readonly since: number
  readonly #deps: MemorySeriesDeps
  readonly #minutes: Ring = { stepMs: minuteMs, buckets: 25 * 60, byStart: new Map() }
  readonly #tens: Ring = { stepMs: 10 * minuteMs, buckets: 8 * 144, byStart: new Map() }
  readonly #stops: readonly (() => void)[]
  /** Jobs that were seen running, to learn from their end how long they took. */
  readonly #followed = new Map<string, number>()
  readonly #flows = new Map<string, { at: number; in: number; out: number }[]>()
  #last: ReadonlyMap<string, JobCount> | null = null
  /** What all jobs together were last counted as, and when they last were just that. */
  #sums = ''
  #quietAt = 0
  #isAnyRunning = false
  #firstAt: number | null = null
  #timer: Timer | null = null
  #isClosed = false

  constructor(deps: MemorySeriesDeps) {
    this.#deps = deps
    const { jobs, clock } = deps
    this.since = clock.now()
    this.#stops = [
      jobs.on('job:succeeded', (event) => {
        this.#followed.delete(event.id)
        this.#each(event, (cell) => cell.run.add(event.durationMs))
      }),
      jobs.on('job:failed', (event) => this.#each(event, (cell) => cell.retried++)),
    ]
    this.#next(0)
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
    for (const stop of this.#stops) stop()
  }

  read(range: Range, sees: (pair: Pair) => boolean): SeriesView {
    const [ring, stepMs, points] = this.#chosen(range)
    const now = this.#deps.clock.now()
    const end = Math.floor(now / stepMs) * stepMs
    const from = end - (points - 1) * stepMs
    return {
      stepMs,
      since: this.since,
      points: Array.from({ length: points }, (_, at) => pointOf(ring, from + at * stepMs, stepMs, sees)),
    }
  }

  recent(minutes: number, sees: (pair: Pair) => boolean): Recent | null {
    const now = this.#deps.clock.now()
    if (this.#firstAt === null) return null
    const watched = Math.min(minutes, Math.max(sampleMs, now - this.#firstAt) / minuteMs)
    const byPair = new Map<string, Cell>()
    for (const [start, bucket] of this.#minutes.byStart) {
      if (start < now - minutes * minuteMs) continue
      for (const [key, cell] of bucket) if (sees(cell)) addTo(byPair, key, cell)
    }
    const sum = new Cell({ queue: '', job: '' })
    for (const cell of byPair.values()) addCell(sum, cell)
    const pairs = [...byPair.values()].map((cell) => ratesOf(cell, watched)).toSorted((a, b) => b.perMinute - a.perMinute)
    const { done, retried, dead } = sum
    return { minutes: watched, done, failed: retried + dead, wait: sum.wait.percentiles(), run: sum.run.percentiles(), pairs }
  }

  flow(queue: string): { readonly in: number; readonly out: number } | null {
    const seen = this.#flows.get(queue)
    const first = seen?.[0]
    const last = seen?.at(-1)
    if (seen === undefined || first === undefined || last === undefined) return null
    const end = Math.max(last.at, this.#quietAt)
    const start = Math.max(first.at, end - keptFlowsMs)
    if (end <= start) return null
    const minutes = (end - start) / minuteMs
    const recent = seen.slice(1).filter(({ at }) => at >= start)
    const sum = recent.reduce((total, each) => ({ in: total.in + each.in, out: total.out + each.out }), { in: 0, out: 0 })
    return { in: sum.in / minutes, out: sum.out / minutes }
  }

  #chosen(range: Range): readonly [ring: Ring, stepMs: number, points: number] {
    if (range === '1h') return [this.#minutes, minuteMs, 60]
    return range === '1d' ? [this.#tens, 10 * minuteMs, 144] : [this.#tens, 60 * minuteMs, 168]
  }

  #next(delayMs: number): void {
    if (this.#isClosed) return
    this.#timer = this.#deps.clock.timer(delayMs, () => void this.#sample(), { unref: true })
  }

  async #sample(): Promise<void> {
    const elapsed = stopwatchOf(this.#deps.clock)
    try {
      await this.#compare()
      await this.#follow()
    } catch {
      // The queue does not answer: the page says so, and the next sample is compared with the last one that was had.
    }
    this.#next(Math.max(sampleMs, restFactor * elapsed()))
  }

  /** What has ended since the last time, by the kept counters. What retention deletes meanwhile is not counted. */
  async #compare(): Promise<void> {
    const [sum] = await this.#deps.store.counts({ isSum: true })
    this.#isAnyRunning = (sum?.counts.running ?? 0) > 0
    const sums = JSON.stringify(sum)
    // While nothing happens, it does not matter how many names and queues there are.
    if (sums === this.#sums) {
      this.#quietAt = this.#deps.clock.now()
      return
    }
    this.#sums = sums
    const counts = await this.#deps.snapshots.counts()
    const byPair = new Map(counts.map((count) => [keyOf(count), count]))
    const last = this.#last
    this.#last = byPair
    const now = this.#deps.clock.now()
    this.#firstAt ??= now
    if (last === null) return
    const flows = new Map<string, { in: number; out: number }>()
    for (const [key, { queue, job, counts: after }] of byPair) {
      const before = last.get(key)?.counts
      const grown = (state: keyof typeof after) => Math.max(0, after[state] - (before?.[state] ?? 0))
      const [done, dead, other] = [grown('succeeded'), grown('dead'), grown('cancelled') + grown('skipped')]
      const out = done + dead + other
      const living = after.ready + after.scheduled + after.blocked + after.running
      const lived = before === undefined ? 0 : before.ready + before.scheduled + before.blocked + before.running
      const flow = flows.get(queue) ?? { in: 0, out: 0 }
      flows.set(queue, { in: flow.in + Math.max(0, living - lived + out), out: flow.out + out })
      if (out === 0) continue
      this.#each({ queue, job }, (cell) => {
        cell.done += done
        cell.dead += dead
        cell.other += other
      })
    }
    this.#keepFlows(flows, now)
  }

  #keepFlows(flows: ReadonlyMap<string, { in: number; out: number }>, now: number): void {
    for (const [queue, flow] of flows) {
      const seen = (this.#flows.get(queue) ?? []).filter(({ at }) => at >= now - keptFlowsMs)
      seen.push({ at: now, ...flow })
      this.#flows.set(queue, seen)
    }
    for (const queue of this.#flows.keys()) if (!flows.has(queue)) this.#flows.delete(queue)
  }

  /** How long jobs waited and ran, by those that run now: a sample, and those that run long are seen more often. */
  async #follow(): Promise<void> {
    const { store } = this.#deps
    for (const [id, startedAt] of [...this.#followed]) {
      const record = await store.get(id)
      if (record?.state === 'running' && record.startedAt === startedAt) continue
      this.#followed.delete(id)
      if (record?.finishedAt == null || record.startedAt !== startedAt) continue
      const durationMs = record.finishedAt - startedAt
      this.#each(record, (cell) => cell.run.add(Math.max(0, durationMs)))
    }
    if (!this.#isAnyRunning || this.#followed.size >= mostFollowed) return
    for (const record of await store.list({ state: 'running', limit: 20 })) this.#begin(record)
  }

  #begin(record: JobRecord): void {
    const { id, startedAt, runAt, createdAt } = record
    if (startedAt === null || this.#followed.has(id) || this.#followed.size >= mostFollowed) return
    this.#followed.set(id, startedAt)
    this.#each(record, (cell) => cell.wait.add(Math.max(0, startedAt - Math.max(runAt, createdAt))))
  }

  #each(pair: Pair, change: (cell: Cell) => void): void {
    const now = this.#deps.clock.now()
    for (const ring of [this.#minutes, this.#tens]) change(cellOf(ring, now, pair))
  }
}

function keyOf({ queue, job }: Pair): string {
  return `${queue}\n${job}`
}

function cellOf(ring: Ring, now: number, pair: Pair): Cell {
  const start = Math.floor(now / ring.stepMs) * ring.stepMs
  let bucket = ring.byStart.get(start)
  if (bucket === undefined) {
    bucket = new Map()
    ring.byStart.set(start, bucket)
    for (const old of ring.byStart.keys()) if (old <= start - ring.buckets * ring.stepMs) ring.byStart.delete(old)
  }
  const isNew = !bucket.has(keyOf(pair))
  const placed = isNew && bucket.size >= mostPairs ? { queue: pair.queue, job: others } : pair
  const key = keyOf(placed)
  const cell = bucket.get(key) ?? new Cell(placed)
  bucket.set(key, cell)
  return cell
}

function pointOf(ring: Ring, from: number, stepMs: number, sees: (pair: Pair) => boolean): SeriesPoint {
  const sum = new Cell({ queue: '', job: '' })
  for (let start = from; start < from + stepMs; start += ring.stepMs) {
    for (const cell of ring.byStart.get(start)?.values() ?? []) if (sees(cell)) addCell(sum, cell)
  }
  const { done, retried, dead, other, wait, run } = sum
  return { at: from, done, retried, dead, other, wait: wait.percentiles(), run: run.percentiles() }
}

function addTo(cells: Map<string, Cell>, key: string, cell: Cell): void {
  const sum = cells.get(key) ?? new Cell(cell)
  addCell(sum, cell)
  cells.set(key, sum)
}

function addCell(sum: Cell, cell: Cell): void {
  sum.done += cell.done
  sum.retried += cell.retried
  sum.dead += cell.dead
  sum.other += cell.other
  sum.wait.merge(cell.wait)
  sum.run.merge(cell.run)
}

function ratesOf({ queue, job, done, retried, dead, other, run }: Cell, minutes: number): PairRates {
  const ended = done + dead + other
  return {
    queue,
    job,
    ended,
    attempts: ended + retried,
    failed: retried + dead,
    perMinute: ended / minutes,
    run: run.percentiles(),
  }
}
