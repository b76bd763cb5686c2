import { stopwatch } from '../../core/time/clock.ts'

/** If a batch starts within this time, the next one may be larger. */
const quickMs = 25
/** Jobs that wait longer than this in a worker should go to another worker. */
const slowMs = 250

/** How many jobs to lease beyond those that can start now: many while jobs are short, none while they are long. */
export class Prefetch {
  readonly #concurrency: number
  readonly #mostAhead: number
  #ahead = 0
  #sinceFilled: (() => number) | undefined

  constructor(concurrency: number, mostAhead: number) {
    this.#concurrency = concurrency
    this.#mostAhead = mostAhead
  }

  get ahead(): number {
    return this.#ahead
  }

  /** A full batch has arrived. An incomplete one says nothing about the worker's speed. */
  filled(): void {
    this.#sinceFilled = stopwatch()
  }

  /** Whether jobs of the last batch have been waiting too long. */
  get overdue(): boolean {
    return this.#ahead > 0 && (this.#sinceFilled?.() ?? 0) > slowMs
  }

  reset(): void {
    this.#ahead = 0
    this.#sinceFilled = undefined
  }

  /** The last job of the batch has started. */
  emptied(): void {
    const elapsedMs = this.#sinceFilled?.()
    this.#sinceFilled = undefined
    if (elapsedMs === undefined) return
    if (elapsedMs < quickMs) this.#ahead = Math.min(Math.max(this.#ahead * 2, this.#concurrency), this.#mostAhead)
    else if (elapsedMs > slowMs) this.#ahead = Math.floor(this.#ahead / 2)
  }
}
