import type { Steps } from '../../../core/answer.ts'
import type { SettleReceipt } from '../../../queue/contract/contract.ts'
import { readDoom } from '../../../queue/model/spoilt.ts'
import type { OnceMarks } from '../keys/once-marks.ts'
import type { JobRow } from '../rows/job-row.ts'
import type { LoadedJobs, Waiting } from '../rows/loaded-jobs.ts'
import type { Waiter } from '../workflows/loaded-waiters.ts'
import { block, endFor, type Left, unblock } from '../workflows/waiting-jobs.ts'
import { cancelledAt, changeFor, type LinkedSettling, type PlacedSettlement, stoppedAt } from './settling.ts'

type Departure = Extract<PlacedSettlement, { readonly kind: 'done' | 'wait' }>

/** Ends leases of jobs that others wait for, or that may wait for others. */
export class SettlingOfLinked implements LinkedSettling {
  readonly #waiting: Waiting
  readonly #onceMarks: OnceMarks

  constructor(waiting: Waiting, onceMarks: OnceMarks) {
    this.#waiting = waiting
    this.#onceMarks = onceMarks
  }

  *settle(hand: LoadedJobs, row: JobRow, settlement: PlacedSettlement): Steps<SettleReceipt> {
    switch (settlement.kind) {
      case 'done':
      case 'wait':
        return yield* this.#leave(hand, row, settlement)
      case 'retry':
      case 'snooze':
      case 'again':
        hand.change(row.id, { ...changeFor(row, settlement, hand.now), ...(row.cancel === 1 && stoppedAt(row, hand.now)) })
        return row.cancel === 1 ? 'cancelled' : 'applied'
      case 'dead':
      case 'cancelled':
      case 'skipped':
        hand.change(row.id, changeFor(row, settlement, hand.now))
        if (!settlement.keep) hand.remove(row.id)
        return 'applied'
    }
  }

  /** The handler has finished, and the children decide. */
  *#leave(hand: LoadedJobs, row: JobRow, settlement: Departure): Steps<SettleReceipt> {
    if (settlement.kind === 'done' && settlement.unlinked === true) return 'unsealed'
    const { pending = 0, doom = null } = (yield* this.#waiterOf(hand, row.id)) ?? {}
    const isDone = settlement.kind === 'done'
    if (isDone && settlement.alone === true && pending > 0) return 'blocked'
    if (row.cancel === 1 && (pending > 0 || doom !== null || !isDone)) {
      // It was asked to stop, and would not come back. Its children may have failed because they were asked to stop too.
      hand.change(row.id, { ...cancelledAt(hand.now), attempts: row.attempts - (isDone ? 0 : 1) })
      return 'cancelled'
    }
    if (doom !== null) {
      endFor(hand, row, readDoom(doom))
      return 'failed'
    }
    if (pending > 0) {
      block(hand, row, isDone ? leftBy(settlement) : null)
      return isDone ? 'blocked' : 'applied'
    }
    yield* this.#goOn(hand, row, settlement)
    return 'applied'
  }

  *#goOn(hand: LoadedJobs, row: JobRow, settlement: Departure): Steps<void> {
    if (settlement.kind === 'wait') {
      unblock(hand, row)
      return
    }
    yield* this.#onceMarks.keep(hand.session, settlement.once, settlement.result, hand.now)
    hand.change(row.id, changeFor(row, settlement, hand.now))
    if (!settlement.keep) hand.remove(row.id)
  }

  /** Its children may have ended in the same call, so it is notified of that first. */
  *#waiterOf(hand: LoadedJobs, id: string): Steps<Waiter | undefined> {
    if (!hand.waiters.has(id)) yield* hand.waiters.read(hand.linkedIds)
    const waiter = hand.waiters.get(id)
    if (waiter === undefined || waiter.pending === 0 || !hand.hasUntold) return waiter
    while (hand.hasUntold) yield* this.#waiting.tell(hand)
    return hand.waiters.get(id)
  }
}

function leftBy({ result, seal = null, keep, once }: Extract<PlacedSettlement, { kind: 'done' }>): Left {
  return { ending: { keep, once: once ?? null }, result, seal }
}
