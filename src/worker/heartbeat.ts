import type { QueueBackend } from '../backends/contract.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { backoffMs } from './persistent.ts'

export interface HeartbeatOptions {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly leaseMs: number
  /** The leases that the worker holds now. */
  readonly held: () => readonly string[]
  readonly onLost: (token: string) => void
  readonly onError: (error: unknown) => void
  /** The beat came so late that leases may have run out meanwhile. */
  readonly onStall: (lateMs: number) => void
}

/** Renews all leases of a worker three times in each lease's time. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #intervalMs: number
  #timer: Timer | undefined
  #stopped = false
  #failures = 0

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#intervalMs = Math.floor(options.leaseMs / 3)
  }

  start(delayMs: number = this.#intervalMs): void {
    if (this.#stopped) return
    const { clock } = this.#options
    const dueAt = clock.now() + delayMs
    this.#timer = clock.timer(delayMs, () => {
      const lateMs = clock.now() - dueAt
      if (lateMs > this.#intervalMs) this.#options.onStall(lateMs)
      void this.#beat()
    })
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  async #beat(): Promise<void> {
    const { backend, clock, leaseMs, held, onLost, onError } = this.#options
    const tokens = held()
    try {
      if (tokens.length > 0) {
        const receipts = await backend.extend(tokens, leaseMs)
        tokens.forEach((token, index) => {
          if (receipts[index] === 'lost') onLost(token)
        })
      }
      this.#failures = 0
      this.start()
    } catch (error) {
      onError(error)
      // The leases run on: the next try must not wait for its turn.
      this.start(Math.min(backoffMs(this.#failures++, clock), this.#intervalMs))
    }
  }
}
