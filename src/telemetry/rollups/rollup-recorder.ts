import type { Clock, Timer } from '../../core/time/clock.ts'
import type { RollupStore } from '../../queue/contract/stores/rollup-store.ts'
import { RollupSums } from '../../queue/statistics/rollup-cells.ts'
import type { ObservedEnd, ObservedJob, Observer } from '../observer.ts'

/**
 * How long to gather sums before they are stored. Shortened by a random jitter, so that programs that started together do not
 * write together.
 */
const gatherMs = 5_000
const jitter = 0.2
/** Above this number of pairs, sums are stored at once, so that many names do not fill the memory. */
const mostPairs = 1_000

export interface RollupRecorderDeps {
  readonly store: RollupStore
  readonly clock: Clock
  /** Called once, and not again until a write has succeeded. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Sums up what a program does with jobs, and adds it to the queue's rollups every few seconds. While nothing happens it writes
 * nothing and has no timer. Sums that could not be written are kept and written with the next ones.
 */
export class RollupRecorder implements Observer {
  readonly #deps: RollupRecorderDeps
  #sums = new RollupSums()
  #timer: Timer | undefined
  #writing: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor(deps: RollupRecorderDeps) {
    this.#deps = deps
  }

  dispatched(): void {}

  called(): void {}

  started({ queue, job }: ObservedJob, waitMs: number): void {
    this.#sums.of(queue, job).wait.add(waitMs)
    this.#gather()
  }

  ended({ queue, job }: ObservedJob, { outcome, runMs }: ObservedEnd): void {
    const counted = countedAs(outcome)
    if (counted === null) return
    const sum = this.#sums.of(queue, job)
    sum[counted]++
    if (runMs !== null && counted !== 'other') sum.run.add(runMs)
    this.#gather()
  }

  /** Stores what was gathered so far. Resolves when it is stored, or could not be. */
  async flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    await this.#writing
  }

  #gather(): void {
    if (this.#timer !== undefined) {
      if (this.#sums.size > mostPairs) void this.flush()
      return
    }
    const { clock } = this.#deps
    this.#timer = clock.timer(gatherMs * (1 - jitter * clock.random()), () => void this.flush(), { unref: true })
  }

  async #write(): Promise<void> {
    if (this.#sums.size === 0) return
    const { store, onFailed } = this.#deps
    const cells = this.#sums.bounded
    this.#sums = new RollupSums()
    try {
      await store.add(cells)
      this.#isFailing = false
    } catch (error) {
      this.#sums.add(cells)
      if (!this.#isFailing) onFailed(error)
      this.#isFailing = true
    }
  }
}

/** Outcomes that neither end a job nor fail are not counted: the job comes back, or another worker has it. */
function countedAs(outcome: ObservedEnd['outcome']): 'succeeded' | 'retried' | 'dead' | 'other' | null {
  switch (outcome) {
    case 'succeeded':
    case 'retried':
    case 'dead':
      return outcome
    case 'cancelled':
    case 'skipped':
      return 'other'
    default:
      return null
  }
}
