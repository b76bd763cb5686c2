import type { Clock } from '../../core/time/clock.ts'

/** The worker's sleep between two looks at the queue, and all that can end it. Nothing that happens meanwhile is overlooked. */
export class Sleeper {
  readonly #clock: Clock
  #woken = false
  #freed = false
  #busy = false
  #ended = false
  #rise: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Work may have arrived. With all hands full that changes nothing: a job that ends ends the sleep. */
  wake(): void {
    this.#woken = true
    if (!this.#busy) this.#rise?.()
  }

  /** Hands have come free. */
  free(): void {
    this.#freed = true
    this.#rise?.()
  }

  /** There will be no more sleep. */
  end(): void {
    this.#ended = true
    this.#rise?.()
  }

  /** The worker looks now: what came free so far is accounted for. */
  look(): void {
    this.#freed = false
  }

  /** `busy` is to sleep with all hands full. */
  sleep(ms: number, busy: boolean): Promise<void> {
    this.#busy = busy
    const isAwake = this.#ended || this.#freed || (this.#woken && !busy)
    if (!busy) this.#woken = false
    if (isAwake) return Promise.resolve()
    return new Promise((resolve) => {
      const rise = () => {
        timer.cancel()
        this.#rise = undefined
        if (!busy) this.#woken = false
        resolve()
      }
      const timer = this.#clock.timer(ms, rise)
      this.#rise = rise
    })
  }
}
