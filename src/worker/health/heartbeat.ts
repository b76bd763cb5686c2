import { type Clock, longestSince, type Timer } from '../../core/time/clock.ts'
import type { StandIn } from '../../queue/contract/contract.ts'
import { backoffMs } from '../loop/persistent.ts'
import type { QueueCalls } from '../loop/queue-calls.ts'

export interface HeartbeatOptions {
  readonly queue: Pick<QueueCalls, 'extend'>
  /** Creates the stand-in that renews leases while the event loop is blocked. Undefined if the backend has none. */
  readonly standIn: () => StandIn | undefined
  readonly clock: Clock
  readonly leaseMs: number
  /** The tokens of all leases that the worker currently holds. */
  readonly held: () => readonly string[]
  readonly onLost: (token: string) => void
  /** These leases are held for `leaseMs`, counted from when the renewal was requested. */
  readonly onRenewed: (tokens: ReadonlySet<string>, sinceAsked: () => number) => void
  readonly onError: (error: unknown) => void
  readonly onNoStandIn: (error: unknown) => void
}

const onTime = () => Number.NEGATIVE_INFINITY

/** Renews all leases of a worker, three times per lease duration. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #intervalMs: number
  #standIn: StandIn | undefined
  #hasStandIn = true
  #beating: Promise<void> | undefined
  #timer: Timer | undefined
  /** How late the next heartbeat is; negative if it is not due yet. */
  #lateMs: () => number = onTime
  #stopped = false
  #failures = 0
  #waiters: (() => void)[] = []

  constructor(options: HeartbeatOptions) {
    this.#options = options
    this.#intervalMs = Math.floor(options.leaseMs / 3)
  }

  start(delayMs: number = this.#intervalMs): void {
    if (this.#stopped) return
    const { clock } = this.#options
    const elapsedMs = longestSince(clock)
    this.#lateMs = () => elapsedMs() - delayMs
    this.#timer = clock.timer(delayMs, () => void this.#renew())
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#standIn?.stop()
    this.#tellWaiters()
  }

  /**
   * The event loop is running and leases are held. The stand-in is created for the first lease, because an idle worker needs
   * none.
   */
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
   * To be awaited before a claim, because a claim returns jobs with expired leases to the queue. After the event loop was
   * blocked, these may be leases of this very worker.
   */
  async catchUp(): Promise<void> {
    if (this.#beating !== undefined) return this.#beating
    if (this.#lateMs() <= this.#intervalMs / 2) return
    this.#timer?.cancel()
    await this.#renew()
  }

  /** Renews now. If the last renewal failed, waits for the next retry, which follows soon. Resolves even if the renewal fails. */
  renewal(): Promise<void> {
    if (this.#stopped) return Promise.resolve()
    if (this.#beating !== undefined) return this.#beating
    if (this.#failures > 0 && this.#lateMs() <= this.#intervalMs) {
      return new Promise((resolve) => {
        this.#waiters.push(resolve)
      })
    }
    this.#timer?.cancel()
    return this.#renew()
  }

  /** Without a stand-in, the worker behaves as on a backend that has none. */
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
      this.#tellWaiters()
    })
    return this.#beating
  }

  async #beat(): Promise<void> {
    const { queue, clock, leaseMs, held, onLost, onRenewed, onError } = this.#options
    this.#lateMs = onTime
    const tokens = held()
    const sinceAsked = longestSince(clock)
    try {
      if (tokens.length > 0) {
        const receipts = await queue.extend(tokens, leaseMs)
        const renewed = new Set(tokens)
        tokens.forEach((token, index) => {
          if (receipts[index] === 'lost') renewed.delete(token)
        })
        onRenewed(renewed, sinceAsked)
        for (const token of tokens) if (!renewed.has(token)) onLost(token)
      }
      this.#failures = 0
      // The leases count from the request: after a slow answer the next renewal follows sooner, or it could come too late.
      this.start(Math.max(0, this.#intervalMs - sinceAsked()))
    } catch (error) {
      onError(error)
      // The leases keep running, so retry soon.
      this.start(Math.min(backoffMs(this.#failures++, clock), this.#intervalMs))
    }
  }

  #tellWaiters(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}
