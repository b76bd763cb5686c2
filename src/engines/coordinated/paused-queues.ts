import type { Clock } from '../../core/time/clock.ts'
import type { JobStore } from '../../queue/contract/store.ts'

/**
 * How long to cache the answer that no queue is paused. Jobs taken over in that time wait in the store, which never hands out
 * jobs of paused queues. While any queue is paused, the store is asked each time, so that a resumed queue starts without delay.
 */
const freshMs = 1_000

/** The paused queues, whose jobs stay in the broker. */
export class PausedQueues {
  readonly #store: JobStore
  readonly #clock: Clock
  #names: readonly string[] = []
  #askAgainAt = Number.NEGATIVE_INFINITY

  constructor(store: JobStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async names(): Promise<readonly string[]> {
    const now = this.#clock.now()
    if (now < this.#askAgainAt) return this.#names
    this.#names = (await this.#store.paused()).queues
    if (this.#names.length === 0) this.#askAgainAt = now + freshMs
    return this.#names
  }
}
