/** So soon after work was found the next look is made, where nothing tells of new work. */
const shortestPauseMs = 20
const growth = 1.25

/**
 * How long an idle worker sleeps until it looks for work again. Where other programs can wake it, it looks seldom, in case a hint
 * was lost. Where they cannot, it looks often after it has found something and less and less often while it finds nothing, so
 * that a busy queue is quick and an idle one costs little.
 */
export class PollInterval {
  readonly #longestMs: number
  readonly #isPush: () => boolean
  #pauseMs = 0

  constructor(longestMs: number, isPush: () => boolean) {
    this.#longestMs = longestMs
    this.#isPush = isPush
  }

  /** The pause after a look that has found work, or none. */
  pauseMs(hasFound: boolean): number {
    if (this.#isPush()) return this.#longestMs
    this.#pauseMs = hasFound || this.#pauseMs === 0 ? shortestPauseMs : this.#pauseMs * growth
    return Math.min(this.#pauseMs, this.#longestMs)
  }
}
