import { Batcher } from '../../core/batcher.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { persistently } from '../loop/persistent.ts'
import type { QueueCalls } from '../loop/queue-calls.ts'

/** Settles in natural batches and keeps retrying while the worker is alive, because a completed job must not run again. */
export class Settler {
  readonly #batcher: Batcher<Settlement, SettleReceipt>
  readonly #tokens = new Set<string>()
  readonly #giveUp = new AbortController()

  constructor(queue: Pick<QueueCalls, 'settle'>, clock: Clock, largestBatch: number, onError: (error: unknown) => void) {
    const options = { clock, signal: this.#giveUp.signal, onError }
    const settleAll = async (settlements: readonly Settlement[]) => {
      try {
        return await persistently(() => queue.settle(settlements), options)
      } finally {
        for (const { token } of settlements) this.#tokens.delete(token)
      }
    }
    this.#batcher = new Batcher(settleAll, largestBatch)
  }

  /** Leases that are being settled. They are still held and still renewed. */
  get tokens(): Iterable<string> {
    return this.#tokens
  }

  get size(): number {
    return this.#tokens.size
  }

  settle(settlement: Settlement): Promise<SettleReceipt> {
    this.#tokens.add(settlement.token)
    return this.#batcher.add(settlement)
  }

  /** From now on, a failure is final. */
  giveUp(): void {
    this.#giveUp.abort()
  }
}
