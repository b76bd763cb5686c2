import { Batcher, Later, type Waiter } from '../../core/batcher.ts'
import { isPassing } from '../../core/errors.ts'
import { type Clock, pauseBeforeRetry } from '../../core/time/clock.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { backoffMs, isFinal, persistently } from '../loop/persistent.ts'
import type { QueueCalls } from '../loop/queue-calls.ts'

/** A batch that the queue has refused this often is written one by one. */
const refusalsTogether = 3

/**
 * Settles in natural batches and keeps retrying while the worker is alive, because a completed job must not run again. A settlement
 * that the queue refuses, as for a job whose rows someone has spoilt, is retried apart, so that it keeps no other from being written.
 */
export class Settler {
  readonly #batcher: Batcher<Settlement, SettleReceipt>
  readonly #giveUp = new AbortController()
  readonly #queue: Pick<QueueCalls, 'settle'>
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #refused = new Map<Settlement, Waiter<SettleReceipt>>()
  #inFlight: readonly Settlement[] = []

  constructor(queue: Pick<QueueCalls, 'settle'>, clock: Clock, largestBatch: number, onError: (error: unknown) => void) {
    this.#queue = queue
    this.#clock = clock
    this.#onError = onError
    this.#batcher = new Batcher((settlements) => this.#settleAll(settlements), largestBatch)
  }

  /** Leases that are being settled. They are still held and still renewed. */
  get tokens(): Iterable<string> {
    return [...this.#inFlight, ...this.#batcher.waiting, ...this.#refused.keys()].map(({ token }) => token)
  }

  get size(): number {
    return this.#inFlight.length + this.#batcher.pending + this.#refused.size
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

  async #settleAll(settlements: readonly Settlement[]): Promise<readonly (SettleReceipt | Later<SettleReceipt>)[]> {
    const { signal } = this.#giveUp
    let refusals = 0
    const write = async () => {
      try {
        return await this.#queue.settle(settlements)
      } catch (error) {
        if (isPassing(error) || isFinal(error) || signal.aborted || ++refusals < refusalsTogether) throw error
        return await this.#oneByOne(settlements)
      }
    }
    this.#inFlight = settlements
    try {
      return await persistently(write, { clock: this.#clock, signal, onError: this.#onError })
    } finally {
      this.#inFlight = []
    }
  }

  async #oneByOne(settlements: readonly Settlement[]): Promise<readonly (SettleReceipt | Later<SettleReceipt>)[]> {
    const answers: (SettleReceipt | Later<SettleReceipt>)[] = []
    for (const settlement of settlements) {
      const known = await this.#settleOne(settlement)
      answers.push('receipt' in known ? known.receipt : new Later(this.#retried(settlement)))
    }
    return answers
  }

  async #settleOne(settlement: Settlement): Promise<{ readonly receipt: SettleReceipt } | { readonly error: unknown }> {
    try {
      const [receipt] = await this.#queue.settle([settlement])
      return { receipt: receipt as SettleReceipt }
    } catch (error) {
      return { error }
    }
  }

  #retried(settlement: Settlement): Promise<SettleReceipt> {
    return new Promise((resolve, reject) => {
      this.#refused.set(settlement, { resolve, reject })
      if (this.#refused.size === 1) void this.#retryRefused()
    })
  }

  /** One at a time, and with one error for all that are refused again. */
  async #retryRefused(): Promise<void> {
    const { signal } = this.#giveUp
    for (let failures = 0; this.#refused.size > 0; failures++) {
      await pauseBeforeRetry(this.#clock, backoffMs(failures, this.#clock), signal)
      let failed: { readonly error: unknown } | null = null
      for (const [settlement, waiter] of this.#refused) {
        const known = await this.#settleOne(settlement)
        if ('error' in known) failed = known
        if ('error' in known && !signal.aborted && !isFinal(known.error)) continue
        this.#refused.delete(settlement)
        if ('receipt' in known) waiter.resolve(known.receipt)
        else waiter.reject(known.error)
      }
      if (failed !== null && !signal.aborted) this.#onError(failed.error)
    }
  }
}
