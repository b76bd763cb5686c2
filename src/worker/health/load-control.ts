import type { MachineUse } from '../../core/process/machine.ts'
import type { Clock, Timer } from '../../core/time/clock.ts'
import type { LoadMeasure } from '../../execution/events.ts'
import { type LoadLimits, nextAllowed, pressureOf } from './load.ts'

export interface LoadControlOptions {
  readonly concurrency: number
  /** Null allows as much as the concurrency does, and measures nothing. */
  readonly limits: LoadLimits | null
  readonly clock: Clock
  /** Begins to measure; each call of the answer tells of the time since the one before. */
  readonly meter: () => () => MachineUse
  readonly lagMs: () => number
  /** More are allowed than before. */
  readonly onRise: () => void
  /** It has changed so much that it should be told. */
  readonly onChange: (change: LoadChange) => void
}

export interface LoadChange {
  readonly allowed: number
  readonly concurrency: number
  readonly load: LoadMeasure
}

const intervalMs = 1_000
/** A change by less than this share of all is not worth telling. */
const toldShare = 0.2

/** How many jobs a worker allows itself: looks once a second how busy everything is. */
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

  /** As it was last measured. */
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
