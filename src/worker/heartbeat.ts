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
  readonly onNoStandIn: (error: unknown) => void
}

/** Renews all leases of a worker three times in each lease's time. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #intervalMs: number
  #standIn: StandIn | undefined
  #hasStandIn = true
  #beating: Promise<void> | undefined
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
    this.#timer = clock.timer(delayMs, () => void this.#renew())
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#standIn?.stop()
  }

  /** The event loop turns, and leases are held. The stand-in is made for the first of them: a worker that idles needs none. */
  live(): void {
    if (this.#stopped) return
    if (this.#standIn === undefined && this.#hasStandIn) this.#makeStandIn()
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
    if (this.#beating !== undefined) return this.#beating
    if (this.#options.clock.now() - this.#dueAt <= this.#intervalMs / 2) return
    this.#timer?.cancel()
    await this.#renew()
  }

  /** Without one the worker is no worse off than on a backend that has none. */
  #makeStandIn(): void {
    try {
      this.#standIn = this.#options.standIn()
    } catch (error) {
      this.#options.onNoStandIn(error)
    }
    this.#hasStandIn = this.#standIn !== undefined
  }

  #renew(): Promise<void> {
    this.#beating = this.#beat().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
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
