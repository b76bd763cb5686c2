import type { TreadleError } from '../../core/errors.ts'
import { systemClock, type Timer } from '../../core/time/clock.ts'
import type { WholeBackend } from '../../queue/contract/contract.ts'
import { isFinal } from '../../worker/loop/persistent.ts'

/** How often an idle server checks. */
const lookEveryMs = 1_000

/**
 * Checks from time to time whether a queue still exists. A worker learns this from its claims, but a server may have nothing to
 * do for hours.
 */
export class QueueWatch {
  /** Resolves with the reason when only a restart helps. */
  readonly lost: Promise<TreadleError>
  readonly #backend: WholeBackend
  #lose: (reason: TreadleError) => void = () => {}
  #timer: Timer | undefined
  #isStopped = false

  constructor(backend: WholeBackend) {
    this.#backend = backend
    this.lost = new Promise((resolve) => {
      this.#lose = resolve
    })
    this.#lookLater()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  /** Uses the system clock: the fate of a database file does not depend on the queue's clock. */
  #lookLater(): void {
    if (!this.#isStopped) this.#timer = systemClock.timer(lookEveryMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    try {
      await this.#backend.store.paused()
    } catch (thrown) {
      // Temporary failures are reported to the clients whose requests they affect.
      if (isFinal(thrown)) return this.#lose(thrown)
    }
    this.#lookLater()
  }
}
