import { Batcher, type Waiter } from '../../core/batcher.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { persistently } from '../loop/persistent.ts'
import type { QueueCalls } from '../loop/queue-calls.ts'

/** Settles in natural batches and keeps retrying while the worker is alive, because a completed job must not run again. */
export class Settler {
  readonly #batcher: Batcher<Settlement, SettleReceipt>
  readonly #giveUp = new AbortController()
  #inFlight: readonly Settlement[] = []

  constructor(queue: Pick<QueueCalls, 'settle'>, clock: Clock, largestBatch: number, onError: (error: unknown) => void) {
    const options = { clock, signal: this.#giveUp.signal, onError }
    const settleAll = async (settlements: readonly Settlement[]) => {
      this.#inFlight = settlements
      try {
        return await persistently(() => queue.settle(settlements), options)
      } finally {
        this.#inFlight = []
      }
    }
    this.#batcher = new Batcher(settleAll, largestBatch)
  }

  /** Leases that are being settled. They are still held and still renewed. */
  get tokens(): Iterable<string> {
    return [...this.#inFlight, ...this.#batcher.waiting].map(({ token }) => token)
  }

  get size(): number {
    return this.#inFlight.length + this.#batcher.pending
  }

  settle(settlement: Settlement): Promise<SettleReceipt> {
    return this.#batcher.add(settlement)
  }

  /** Like `settle`, without a promise. */
  settleFor(settlement: Settlement, waiter: Waiter<SettleReceipt>): void {
    this.#batcher.addFor(settlement, waiter)
  }

  /** From now on, a failure is final. */
  giveUp(): void {
    this.#giveUp.abort()
  }
}
