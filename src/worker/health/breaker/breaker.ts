import { TreadleError } from '../../../core/errors.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { BreakerState } from '../../../queue/contract/stores/worker-store.ts'

export interface BreakerConfig {
  /** Number of consecutive failures after which no claims are made. */
  readonly threshold: number
  /** How long after the breaker opens to try one claim. */
  readonly cooldownMs: number
}

export interface BreakerChange {
  readonly state: BreakerState
  /** Number of consecutive failures so far. */
  readonly failures: number
  /** The last failure. */
  readonly error?: unknown
}

/**
 * Whether the queue is healthy enough to claim more jobs. All calls of a worker count, whether claims, renewals or settlements,
 * and any success closes the breaker. But only claims are held back, because leases must be renewed and outcomes must be stored.
 */
export class Breaker {
  readonly #config: BreakerConfig | null
  readonly #clock: Clock
  readonly #onChange: (change: BreakerChange) => void
  #state: BreakerState = 'closed'
  #failures = 0
  #probeAt = 0

  /** Without a config, it never opens. */
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

  /** A closed queue is not a failure: the program closed it itself. */
  failed(error: unknown): void {
    if (error instanceof TreadleError && error.code === 'BACKEND_CLOSED') return
    this.#failures++
    if (this.#config === null || this.#state === 'open') return
    if (this.#state === 'closed' && this.#failures < this.#config.threshold) return
    this.#probeAt = this.#clock.now() + this.#config.cooldownMs
    this.#become('open', error)
  }

  /** How long to wait before the next claim. */
  get waitMs(): number {
    return this.#state === 'open' ? Math.max(0, this.#probeAt - this.#clock.now()) : 0
  }

  /** Called when a claim is made. */
  claiming(): void {
    if (this.#state === 'open') this.#become('half-open')
  }

  #become(state: BreakerState, error?: unknown): void {
    if (this.#state === state) return
    this.#state = state
    this.#onChange({ state, failures: this.#failures, ...(error !== undefined && { error }) })
  }
}
