/** How long to wait before polling again after jobs were found, if the queue sends no notifications. */
const shortestPauseMs = 20
const growth = 1.25

/**
 * How long an idle worker waits before it polls again. If other processes can wake it, it polls rarely, in case a notification
 * was lost. Otherwise, it polls often after it has found jobs, and less and less often while it finds none. So a busy queue has
 * low latency, and an idle one costs little.
 */
export class PollInterval {
  readonly #longestMs: number
  readonly #isPush: () => boolean
  #pauseMs = 0

  constructor(longestMs: number, isPush: () => boolean) {
    this.#longestMs = longestMs
    this.#isPush = isPush
  }

  /** The pause after a poll that found jobs or did not. */
  pauseMs(hasFound: boolean): number {
    if (this.#isPush()) return this.#longestMs
    this.#pauseMs = hasFound || this.#pauseMs === 0 ? shortestPauseMs : this.#pauseMs * growth
    return Math.min(this.#pauseMs, this.#longestMs)
  }
}
