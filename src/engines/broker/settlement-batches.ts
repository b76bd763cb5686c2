import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'

/** Settles jobs at the same time, each on its own: a broker has no transaction for all of them. */
export class SettlementBatches {
  /** Of batches that failed partially, for when those settlements are retried. */
  readonly #receipts = new Map<string, SettleReceipt>()

  async settle(
    settlements: readonly Settlement[],
    settleOne: (settlement: Settlement) => Promise<SettleReceipt>,
  ): Promise<readonly SettleReceipt[]> {
    const settling = settlements.map(async (settlement) => this.#take(settlement.token) ?? settleOne(settlement))
    const settled = await Promise.allSettled(settling)
    if (settled.some(({ status }) => status === 'rejected')) {
      for (const [index, each] of settled.entries()) {
        if (each.status === 'fulfilled') this.#receipts.set((settlements[index] as Settlement).token, each.value)
      }
    }
    return Promise.all(settling)
  }

  #take(token: string): SettleReceipt | undefined {
    const receipt = this.#receipts.get(token)
    this.#receipts.delete(token)
    return receipt
  }
}
