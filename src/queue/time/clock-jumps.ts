import { monotonicMs } from '../../core/process/process-time.ts'
import type { Clock } from '../../core/time/clock.ts'

/** If the clock and elapsed time differ by more than this, the clock was set or the machine slept. */
const jumpMs = 1_000

/**
 * By how much the clock was set, and its new offset from the machine's monotonic counter: the same for all programs on the
 * machine.
 */
export interface ClockJump {
  readonly byMs: number
  readonly offsetMs: number
}

export function jumpText({ byMs }: ClockJump): string {
  const way = byMs < 0 ? 'back' : 'forward'
  return `the clock of this machine was set ${way} by ${Math.abs(byMs)} ms: leases, rates and locks keep the time that they have left`
}

/**
 * Notices when the clock is set while the program runs. Instants that stand for remaining time (leases, rates, locks) must then
 * be moved by the same amount. A manual clock is exempt: it is moved on purpose.
 */
export class ClockJumps {
  readonly #clock: Clock
  #offsetMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offsetMs = this.#offset()
  }

  /** The jump since the last call; null if there was none. */
  look(): ClockJump | null {
    if (!this.#clock.runsByItself) return null
    const offsetMs = this.#offset()
    const byMs = Math.round(offsetMs - this.#offsetMs)
    this.#offsetMs = offsetMs
    return Math.abs(byMs) < jumpMs ? null : { byMs, offsetMs }
  }

  #offset(): number {
    return this.#clock.now() - monotonicMs()
  }
}
