import { TreadleError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { BreakerState } from '../../queue/contract/worker-store.ts'

export interface BreakerConfig {
  /** After this many failures in a row no claim is made. */
  readonly threshold: number
  /** So long after the last of them one claim is tried. */
  readonly cooldownMs: number
}

export interface BreakerChange {
  readonly state: BreakerState
  /** In a row, up to now. */
  readonly failures: number
  /** The last of them. */
  readonly error?: unknown
}

/**
 * Whether the queue is well enough to be asked for more work. Every call of a worker counts, claims, renewals and settlements
 * alike, and any success closes it; but only claims are held back, because leases must live and what was done must be told.
 */
export class Breaker {
  readonly #config: BreakerConfig | null
  readonly #clock: Clock
  readonly #onChange: (change: BreakerChange) => void
  #state: BreakerState = 'closed'
  #failures = 0
  #probeAt = 0

  /** Without a config it never opens. */
  constructor(config: BreakerConfig | null, clock: Clock, onChange: (change: BreakerChange) => void) {
    this.#config = config
    this.#clock = clock
    this.#onChange = onChange
  }

  get state(): BreakerState {
    return this.#state
  }

  succeeded(): void {
    this.#failures = 0
    this.#become('closed')
  }

  /** That the queue was closed is the program's own doing, and no failure. */
  failed(error: unknown): void {
    if (error instanceof TreadleError && error.code === 'BACKEND_CLOSED') return
    this.#failures++
    if (this.#config === null || this.#state === 'open') return
    if (this.#state === 'closed' && this.#failures < this.#config.threshold) return
    this.#probeAt = this.#clock.now() + this.#config.cooldownMs
    this.#become('open', error)
  }

  /** How long no claim is to be made. */
  get waitMs(): number {
    return this.#state === 'open' ? Math.max(0, this.#probeAt - this.#clock.now()) : 0
  }

  /** A claim is made now. */
  claiming(): void {
    if (this.#state === 'open') this.#become('half-open')
  }

  #become(state: BreakerState, error?: unknown): void {
    if (this.#state === state) return
    this.#state = state
    this.#onChange({ state, failures: this.#failures, ...(error !== undefined && { error }) })
  }
}
