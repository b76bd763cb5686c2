import { nextTurn, stopwatch } from '../../core/time/clock.ts'

/** Who has asked for nothing for so long, or for twice as long, is not waited for. */
const windowMs = 5
/** About as long as a quick disk takes for a commit: to wait longer would cost more than the commit that it spares. */
const longestWaitMs = 0.3

/**
 * Who else is asking at the moment. Clients that each wait for their last answer come one shortly after the other: a commit that
 * waits for all of them, but not for long, takes the place of several that do not.
 */
export class GroupCommit {
  readonly #elapsedMs: () => number
  #latest = new Set<object>()
  #before = new Set<object>()
  #turnedAtMs = 0

  constructor(elapsedMs: () => number = stopwatch()) {
    this.#elapsedMs = elapsedMs
  }

  /** One of them has asked for something. */
  saw(caller: object): void {
    this.#turn()
    this.#before.delete(caller)
    this.#latest.add(caller)
  }

  get size(): number {
    this.#turn()
    return this.#latest.size + this.#before.size
  }

  /** Resolves when as many have come as are about, or when it is no use to wait for the rest. */
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
