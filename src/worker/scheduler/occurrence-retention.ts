import type { JobStore } from '../../queue/contract/store.ts'
import { longestMisfireMs } from '../../scheduling/misfire.ts'

/** Part of `JobStore`. */
export type Sweep = JobStore['sweep']

const rememberMs = longestMisfireMs + 86_400_000
const everyMs = 600_000
const batchSize = 1_000
const mostBatches = 100

/** Deletes occurrences that are no longer needed, alongside the passes of a scheduler. */
export class OccurrenceRetention {
  readonly #sweep: Sweep
  readonly #onError: (error: unknown) => void
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(sweep: Sweep, onError: (error: unknown) => void) {
    this.#sweep = sweep
    this.#onError = onError
  }

  /** Runs from time to time. A failure is reported and does not cause the pass to be repeated. */
  async run(now: number): Promise<void> {
    // Absolute difference, so that a clock that was set back does not delay this.
    if (Math.abs(now - this.#lastAt) < everyMs) return
    this.#lastAt = now
    try {
      for (let batch = 0; batch < mostBatches; batch++) {
        const { looked } = await this.#sweep({ part: 'occurrences', before: now - rememberMs, limit: batchSize })
        if (looked < batchSize) return
      }
    } catch (thrown) {
      this.#onError(thrown)
    }
  }
}
