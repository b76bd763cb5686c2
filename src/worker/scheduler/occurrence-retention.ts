import type { ScheduleStore } from '../../queue/contract/schedule-store.ts'
import { longestMisfireMs } from '../../scheduling/misfire.ts'

const rememberMs = longestMisfireMs + 86_400_000
const everyMs = 600_000
const batchSize = 1_000
const mostBatches = 100

/** Housekeeping beside the passes of a scheduler: occurrences that nobody asks for any more. */
export class OccurrenceRetention {
  readonly #schedules: ScheduleStore
  readonly #onError: (error: unknown) => void
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(schedules: ScheduleStore, onError: (error: unknown) => void) {
    this.#schedules = schedules
    this.#onError = onError
  }

  /** Now and then. A failure is reported, and is no reason to repeat the pass. */
  async run(now: number): Promise<void> {
    // Counted in both directions: a clock that was set back must not put it off.
    if (Math.abs(now - this.#lastAt) < everyMs) return
    this.#lastAt = now
    try {
      for (let batch = 0; batch < mostBatches; batch++) {
        const forgotten = await this.#schedules.forget(now - rememberMs, batchSize)
        if (forgotten < batchSize) return
      }
    } catch (thrown) {
      this.#onError(thrown)
    }
  }
}
