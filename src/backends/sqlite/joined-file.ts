import type { Envelope } from '../../envelope/envelope.ts'
import type { JoinedQueue, SendReceipt, Settlement, SettleReceipt } from '../contract.ts'
import type { AmendAnswer, Amendment, JobRecord, RejectAnswer, Rejection } from '../store.ts'
import { type FlatAmendments, flattenAmendments } from './amending.ts'
import { type FlatEnvelopes, flatten } from './flat-envelopes.ts'
import { type JobRow, recordOf } from './record.ts'
import type { Taken } from './sending.ts'

/** What can be done in the middle of a transaction. */
export interface EngineParts {
  send(flat: FlatEnvelopes, now: number): readonly Taken[]
  get(id: string): JobRow | null
  amend(amendments: FlatAmendments, now: number): readonly AmendAnswer[]
  reject(rejections: readonly Rejection[], now: number): readonly RejectAnswer[]
  end(settlement: Settlement, now: number): SettleReceipt
}

/** Of transactions that are the queue's own, and open to the function of a handler. */
export const joinedFiles = new WeakMap<object, JoinedFile>()

/** The queue inside of a transaction on its file. Everything is done at once. */
export class JoinedFile implements JoinedQueue {
  readonly #engine: EngineParts
  readonly #now: () => number
  #hasChanged = false

  constructor(engine: EngineParts, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  /** Whether there may be work for those who wait when the transaction is committed. */
  get hasChanged(): boolean {
    return this.#hasChanged
  }

  send(envelopes: readonly Envelope[]): readonly SendReceipt[] {
    this.#hasChanged = true
    return receiptsOf(envelopes, this.#engine.send(flatten(envelopes), this.#now()))
  }

  get(id: string): JobRecord | null {
    const row = this.#engine.get(id)
    return row === null ? null : recordOf(row)
  }

  amend(amendments: readonly Amendment[]): readonly AmendAnswer[] {
    this.#hasChanged = true
    return this.#engine.amend(flattenAmendments(amendments), this.#now())
  }

  reject(rejections: readonly Rejection[]): readonly RejectAnswer[] {
    this.#hasChanged = true
    return this.#engine.reject(rejections, this.#now())
  }

  settle(settlement: Settlement): SettleReceipt {
    this.#hasChanged = true
    return this.#engine.end(settlement, this.#now())
  }
}

/** Only those that were there already are told. */
export function receiptsOf(envelopes: readonly Envelope[], taken: readonly Taken[]): readonly SendReceipt[] {
  const receipts: SendReceipt[] = envelopes.map(({ id }) => ({ id, stored: true }))
  for (const [index, receipt] of taken) receipts[index] = receipt
  return receipts
}
