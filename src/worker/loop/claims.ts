import { type Clock, longestSince, pause } from '../../core/time/clock.ts'
import type { LeaseBatch, LeaseRequest } from '../../queue/contract/contract.ts'
import type { Breaker } from '../health/breaker/breaker.ts'
import { persistently } from './persistent.ts'
import type { QueueCalls } from './queue-calls.ts'

export interface ClaimsOptions {
  readonly queue: Pick<QueueCalls, 'lease'>
  readonly breaker: Breaker
  readonly clock: Clock
  /** Ends all waiting. */
  readonly signal: AbortSignal
  readonly request: (limit: number) => LeaseRequest
  /** Awaited before each claim. */
  readonly before: () => Promise<void>
  readonly onError: (error: unknown) => void
}

/** The result of a claim, and how long ago it was requested. */
export interface ClaimAnswer extends LeaseBatch {
  readonly sinceAsked: () => number
}

/** Claims jobs, retrying until the queue responds. Pauses while the breaker is open. */
export class Claims {
  readonly #options: ClaimsOptions
  #waiting: AbortController | undefined

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** Undefined if the worker was stopped in the meantime. */
  async claim(limit: number): Promise<ClaimAnswer | undefined> {
    const { queue, breaker, clock, signal, request, before, onError } = this.#options
    const lease = async () => {
      await this.#pass()
      signal.throwIfAborted()
      await before()
      breaker.claiming()
      const sinceAsked = longestSince(clock)
      return { ...(await queue.lease(request(limit))), sinceAsked }
    }
    try {
      return await persistently(lease, { clock, signal, onError })
    } catch (error) {
      if (!signal.aborted) throw error
      return undefined
    }
  }

  /** Called when the breaker has closed, to end the pause. */
  wake(): void {
    this.#waiting?.abort()
  }

  async #pass(): Promise<void> {
    const { breaker, clock, signal } = this.#options
    while (breaker.waitMs > 0 && !signal.aborted) {
      this.#waiting = new AbortController()
      await pause(clock, breaker.waitMs, AbortSignal.any([signal, this.#waiting.signal]))
    }
  }
}
