import { monotonicMs } from '../../core/process/process-time.ts'
import type { Clock } from '../../core/time/clock.ts'

/** A clock that has moved so much otherwise than time has passed was set, or the machine slept. */
const jumpMs = 1_000

/** By how much a clock was set, and what it is ahead of the machine's counter since: the same for all programs of the machine. */
export interface ClockJump {
  readonly byMs: number
  readonly offsetMs: number
}

export function jumpText({ byMs }: ClockJump): string {
  const way = byMs < 0 ? 'back' : 'forward'
  return `the clock of this machine was set ${way} by ${Math.abs(byMs)} ms: leases, rates and locks keep the time that they have left`
}

/**
 * Notices that the clock was set while the program runs. What was written as an instant and means a time that is left (leases,
 * rates, locks) has to be moved by as much; a clock that is moved by hand is moved on purpose.
 */
export class ClockJumps {
  readonly #clock: Clock
  #offsetMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offsetMs = this.#offset()
  }

  /** Since the last look; null where there was none. */
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
