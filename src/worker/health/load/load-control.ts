import type { MachineUse } from '../../../core/process/machine.ts'
import type { Clock, Timer } from '../../../core/time/clock.ts'
import type { LoadMeasure } from '../../../execution/events.ts'
import { type LoadLimits, nextAllowed, pressureOf } from './load.ts'

export interface LoadControlOptions {
  readonly concurrency: number
  /** Null always allows the full concurrency and measures nothing. */
  readonly limits: LoadLimits | null
  readonly clock: Clock
  /** Starts measuring. Each call of the returned function measures the time since the previous call. */
  readonly meter: () => () => MachineUse
  readonly lagMs: () => number
  /** Called when more jobs are allowed than before. */
  readonly onRise: () => void
  /** Called when the number has changed enough to be reported. */
  readonly onChange: (change: LoadChange) => void
}

export interface LoadChange {
  readonly allowed: number
  readonly concurrency: number
  readonly load: LoadMeasure
}

const intervalMs = 1_000
/** Smaller changes, as a share of the concurrency, are not reported. */
const toldShare = 0.2

/** How many jobs a worker may run at once. Checks the load once a second. */
export class LoadControl {
  readonly #options: LoadControlOptions
  #allowed: number
  #told: number
  #load: LoadMeasure | null = null
  #timer: Timer | undefined

  constructor(options: LoadControlOptions) {
    this.#options = options
    this.#allowed = options.concurrency
    this.#told = options.concurrency
  }

  get allowed(): number {
    return this.#allowed
  }

  /** The last measurement. */
  get load(): LoadMeasure | null {
    return this.#load
  }

  start(): void {
    const { limits, meter } = this.#options
    if (limits !== null) this.#wait(meter(), limits)
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #wait(measure: () => MachineUse, limits: LoadLimits): void {
    const look = () => {
      this.#adapt({ ...measure(), lagMs: this.#options.lagMs() }, limits)
      this.#wait(measure, limits)
    }
    this.#timer = this.#options.clock.timer(intervalMs, look, { unref: true })
  }

  #adapt(load: LoadMeasure, limits: LoadLimits): void {
    const { concurrency, onRise, onChange } = this.#options
    const before = this.#allowed
    this.#load = load
    this.#allowed = nextAllowed(before, pressureOf(load, limits), concurrency)
    if (this.#allowed > before) onRise()
    const change = Math.abs(this.#allowed - this.#told)
    const isAtAnEnd = this.#allowed === 1 || this.#allowed === concurrency
    if (change === 0 || (change < concurrency * toldShare && !isAtAnEnd)) return
    this.#told = this.#allowed
    onChange({ allowed: this.#allowed, concurrency, load })
  }
}
