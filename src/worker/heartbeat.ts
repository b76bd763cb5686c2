import type { StandIn } from '../backends/contract.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { backoffMs } from './persistent.ts'
import type { QueueCalls } from './queue-calls.ts'

export interface HeartbeatOptions {
  readonly queue: Pick<QueueCalls, 'extend'>
  /** Makes the one that renews while the event loop stands still; undefined where the backend has none. */
  readonly standIn: () => StandIn | undefined
  readonly clock: Clock
  readonly leaseMs: number
  /** The leases that the worker holds now. */
  readonly held: () => readonly string[]
  readonly onLost: (token: string) => void
  readonly onError: (error: unknown) => void
}

/** Renews all leases of a worker three times in each lease's time. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #intervalMs: number
  #standIn: StandIn | undefined
  #timer: Timer | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #stopped = false
  #failures = 0

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#intervalMs = Math.floor(options.leaseMs / 3)
  }

  start(delayMs: number = this.#intervalMs): void {
    if (this.#stopped) return
    const { clock } = this.#options
    this.#dueAt = clock.now() + delayMs
    this.#timer = clock.timer(delayMs, () => void this.#beat())
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#standIn?.stop()
  }

  /** The event loop turns, and leases are held. The stand-in is made for the first of them: a worker that idles needs none. */
  live(): void {
    if (this.#stopped) return
    this.#standIn ??= this.#options.standIn()
    this.#standIn?.beat()
  }

  /** No leases are held. */
  rest(): void {
    this.#standIn?.rest()
  }

  /**
   * To be awaited before a claim, which returns to the queue what has run out: after a standstill, that may be leases of this
   * very worker.
   */
  async catchUp(): Promise<void> {
    if (this.#options.clock.now() - this.#dueAt <= this.#intervalMs / 2) return
    this.#timer?.cancel()
    await this.#beat()
  }

  async #beat(): Promise<void> {
    const { queue, clock, leaseMs, held, onLost, onError } = this.#options
    this.#dueAt = Number.POSITIVE_INFINITY
    const tokens = held()
    try {
      if (tokens.length > 0) {
        const receipts = await queue.extend(tokens, leaseMs)
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
