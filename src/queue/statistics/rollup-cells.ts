import type { RollupCell } from '../contract/stores/rollup-store.ts'
import { parsed } from '../model/parsed-json.ts'
import { DurationHistogram } from './duration-histogram.ts'

/** Name for the pairs that a bucket has no room for. */
const otherName = '(other)'
/** Maximum number of queue and job pairs with their own cell in a bucket: the busiest. The rest are counted by queue. */
const mostPairs = 100
/** Maximum number of queues with a cell for the rest of their jobs; other queues are counted together. */
const mostQueues = 20

/** Running sums of cells by queue and job. */
export class RollupSums {
  readonly #queues = new Map<string, Map<string, RollupSum>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  of(queue: string, job: string): RollupSum {
    let jobs = this.#queues.get(queue)
    if (jobs === undefined) {
      jobs = new Map()
      this.#queues.set(queue, jobs)
    }
    const known = jobs.get(job)
    if (known !== undefined) return known
    const made = new RollupSum(queue, job)
    jobs.set(job, made)
    this.#size++
    return made
  }

  add(cells: readonly RollupCell[]): this {
    for (const cell of cells) this.of(cell.queue, cell.job).add(cell)
    return this
  }

  get sums(): readonly RollupSum[] {
    return [...this.#queues.values()].flatMap((jobs) => [...jobs.values()])
  }

  /** The busiest pairs as they are, and the rest combined. */
  get bounded(): readonly RollupCell[] {
    const named = this.sums.filter(({ job }) => job !== otherName)
    if (named.length <= mostPairs && this.#size - named.length <= mostQueues) return this.sums.map((sum) => sum.cell)
    const places = new RollupSums()
    const kept = new Set(named.toSorted(busiestFirst).slice(0, mostPairs))
    for (const { cell } of kept) places.add([cell])
    const queues = new Set<string>()
    for (const { cell } of this.sums.filter((sum) => !kept.has(sum)).toSorted(busiestFirst)) {
      if (queues.size < mostQueues - 1) queues.add(cell.queue)
      places.add([{ ...cell, queue: queues.has(cell.queue) ? cell.queue : otherName, job: otherName }])
    }
    return places.sums.map((sum) => sum.cell)
  }
}

/** The sums of one pair. */
export class RollupSum {
  succeeded = 0
  retried = 0
  dead = 0
  other = 0
  readonly wait = new DurationHistogram()
  readonly run = new DurationHistogram()
  readonly queue: string
  readonly job: string

  constructor(queue: string, job: string) {
    this.queue = queue
    this.job = job
  }

  add(cell: RollupCell): void {
    this.succeeded += cell.succeeded
    this.retried += cell.retried
    this.dead += cell.dead
    this.other += cell.other
    this.wait.merge(cell.wait)
    this.run.merge(cell.run)
  }

  get attempts(): number {
    return this.succeeded + this.retried + this.dead + this.other
  }

  get cell(): RollupCell {
    const { queue, job, succeeded, retried, dead, other, wait, run } = this
    return { queue, job, succeeded, retried, dead, other, wait: wait.counts, run: run.counts }
  }
}

function busiestFirst(a: RollupSum, b: RollupSum): number {
  return b.attempts - a.attempts || inOrder(a.queue, b.queue) || inOrder(a.job, b.job)
}

function inOrder(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** The text of a bucket, as it is stored. */
export function textOfCells(cells: readonly RollupCell[]): string {
  return JSON.stringify(
    cells.map(({ queue, job, succeeded, retried, dead, other, wait, run }) => {
      return [queue, job, [succeeded, retried, dead, other], wait, run]
    }),
  )
}

/** Unreadable cells are left out: a chart with a gap is better than none. */
export function cellsOfText(text: string | null): readonly RollupCell[] {
  const rows = parsed(text)
  return Array.isArray(rows) ? rows.flatMap(cellOfRow) : []
}

function cellOfRow(row: unknown): readonly RollupCell[] {
  const [queue, job, sums, wait, run] = Array.isArray(row) ? (row as readonly unknown[]) : []
  if (typeof queue !== 'string' || typeof job !== 'string' || !isCounts(sums) || !isCounts(wait) || !isCounts(run)) return []
  const [succeeded = 0, retried = 0, dead = 0, other = 0] = sums
  return [{ queue, job, succeeded, retried, dead, other, wait, run }]
}

function isCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => Number.isSafeInteger(each) && each >= 0)
}
