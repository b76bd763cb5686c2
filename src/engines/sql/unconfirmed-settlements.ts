import type { Steps } from '../../core/answer.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import type { JobRow } from './rows/job-row.ts'
import { claimOf, type Token } from './rows/lease-token.ts'
import { stateNumber } from './rows/tables.ts'

/**
 * Settlements that failed, usually because the connection was lost: each may or may not have been carried out. A worker that
 * settles again gets the result of the first attempt, instead of hearing that its lease is lost.
 */
export class UnconfirmedSettlements {
  readonly #tokens = new Set<string>()

  /** The receipt for settling a lease that is not held. A job that ended by this lease still has its claim. */
  receiptFor(settlement: Settlement, { claim }: Token, row: JobRow | null): SettleReceipt {
    if (!this.#tokens.has(settlement.token)) return 'lost'
    if (row === null) return 'keep' in settlement && !settlement.keep ? 'applied' : 'lost'
    return claimOf(row.token) === claim && row.state !== stateNumber.running ? receiptOf(settlement, row.state) : 'lost'
  }

  /** Remembers settlements in doubt if the call fails, and forgets them after one succeeds. */
  *around<Value>(settlements: readonly Settlement[], call: () => Steps<Value>): Steps<Value> {
    try {
      const answer = yield* call()
      if (this.#tokens.size > 0) for (const { token } of settlements) this.#tokens.delete(token)
      return answer
    } catch (thrown) {
      for (const { token } of settlements) this.#tokens.add(token)
      throw thrown
    }
  }
}

/** What the first settlement must have returned, judging by the job's state. */
function receiptOf({ kind }: Settlement, state: number): SettleReceipt {
  if (state === stateNumber.blocked) return kind === 'done' ? 'blocked' : 'applied'
  if (state === stateNumber.cancelled && kind !== 'cancelled') return 'cancelled'
  if (state === stateNumber.dead && kind !== 'dead') return 'failed'
  return 'applied'
}
