import type { Clock } from '../../core/time/clock.ts'

/** The worker's sleep between two polls, and everything that can end it. Events during a poll are not lost. */
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

  /** Jobs may have arrived. If all slots are in use, this does not end the sleep: a job that ends will. */
  wake(): void {
    this.#woken = true
    if (!this.#busy) this.#rise?.()
  }

  /** Slots have become free. */
  free(): void {
    this.#freed = true
    this.#rise?.()
  }

  /** No more sleep from now on. */
  end(): void {
    this.#ended = true
    this.#rise?.()
  }

  /** The worker polls now, so slots freed so far are accounted for. */
  look(): void {
    this.#freed = false
  }

  /** `busy` means that all slots are in use. */
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
