import { systemClock, type Timer } from '../../../core/time/clock.ts'

const distancesMs = [5, 20, 80, 320]

/** Wakes a few times, for an event that comes soon but is not announced. Beginning again restarts it. */
export class LateWakes {
  readonly #wake: () => void
  #timers: readonly Timer[] = []

  constructor(wake: () => void) {
    this.#wake = wake
  }

  begin(): void {
    this.end()
    this.#timers = distancesMs.map((ms) => systemClock.timer(ms, this.#wake, { unref: true }))
  }

  end(): void {
    for (const timer of this.#timers) timer.cancel()
  }
}
