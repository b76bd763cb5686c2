import { type Clock, stopwatchOf, type Timer } from '../../core/time/clock.ts'

/** Reports when a run has used up its time. It can be paused while the run waits for something that is not its own work. */
export class Deadline {
  readonly #clock: Clock
  readonly #onOver: () => void
  #leftMs: number
  #elapsedMs: () => number = () => 0
  #timer: Timer | undefined

  constructor(clock: Clock, timeoutMs: number, onOver: () => void) {
    this.#clock = clock
    this.#onOver = onOver
    this.#leftMs = timeoutMs
    this.resume()
  }

  pause(): void {
    if (this.#timer === undefined) return
    this.cancel()
    this.#leftMs -= this.#elapsedMs()
  }

  resume(): void {
    this.#elapsedMs = stopwatchOf(this.#clock)
    this.#timer = this.#clock.timer(this.#leftMs, this.#onOver)
  }

  /** True even before the timer could fire, if the run blocked the event loop. */
  get isOver(): boolean {
    return this.#timer !== undefined && this.#elapsedMs() >= this.#leftMs
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
