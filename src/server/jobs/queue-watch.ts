import type { TreadleError } from '../../core/errors.ts'
import { systemClock, type Timer } from '../../core/time/clock.ts'
import type { WholeBackend } from '../../queue/contract/contract.ts'
import { isFinal } from '../../worker/loop/persistent.ts'

/** How soon a server that nobody asks anything learns of it. */
const lookEveryMs = 1_000

/** Looks now and then whether a queue is still there. A worker learns it from its claims; a server may have nothing to do for hours. */
export class QueueWatch {
  /** Resolves with the reason when nothing but a new start helps any more. */
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

  /** What becomes of a file is no matter of the queue's clock. */
  #lookLater(): void {
    if (!this.#isStopped) this.#timer = systemClock.timer(lookEveryMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    try {
      await this.#backend.store.schedules.revision()
    } catch (thrown) {
      // Whatever passes is told to those who ask for something.
      if (isFinal(thrown)) return this.#lose(thrown)
    }
    this.#lookLater()
  }
}
