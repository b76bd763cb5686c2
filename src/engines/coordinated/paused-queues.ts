import type { Clock } from '../../core/time/clock.ts'
import type { JobStore } from '../../queue/contract/store.ts'

/**
 * So long it counts that none is paused: what is taken over meanwhile waits in the store, which leaves paused queues alone in any
 * case. While one is, it is asked each time, so that nobody waits when it is resumed.
 */
const freshMs = 1_000

/** Queues whose jobs stay in the broker while they are paused. */
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
    this.#names = await this.#store.pausedQueues()
    if (this.#names.length === 0) this.#askAgainAt = now + freshMs
    return this.#names
  }
}
