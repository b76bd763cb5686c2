import { nextTurn, stopwatch } from '../../core/time/clock.ts'

/** A caller that has been quiet for this long, or up to twice as long, is not waited for. */
const windowMs = 5
/** About as long as a commit takes on a fast disk: waiting longer would cost more than the commit that it saves. */
const longestWaitMs = 0.3

/**
 * Tracks which clients are active at the moment. Clients that each wait for their last reply send their requests shortly after
 * one another. One commit that waits briefly for all of them replaces several that do not wait.
 */
export class GroupCommit {
  readonly #elapsedMs: () => number
  #latest = new Set<object>()
  #before = new Set<object>()
  #turnedAtMs = 0

  constructor(elapsedMs: () => number = stopwatch()) {
    this.#elapsedMs = elapsedMs
  }

  /** Records a request from a caller. */
  saw(caller: object): void {
    this.#turn()
    this.#before.delete(caller)
    this.#latest.add(caller)
  }

  get size(): number {
    this.#turn()
    return this.#latest.size + this.#before.size
  }

  /** Resolves when as many requests have arrived as there are active callers, or when waiting longer would not pay off. */
  async gather(come: () => number): Promise<void> {
    await nextTurn()
    const since = this.#elapsedMs()
    while (come() < this.size && this.#elapsedMs() - since < longestWaitMs) await nextTurn()
  }

  #turn(): void {
    const elapsedMs = this.#elapsedMs()
    if (elapsedMs - this.#turnedAtMs < windowMs) return
    this.#before = elapsedMs - this.#turnedAtMs < 2 * windowMs ? this.#latest : new Set()
    this.#latest = new Set()
    this.#turnedAtMs = elapsedMs
  }
}
