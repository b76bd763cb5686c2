import type { Answer } from '../../../core/answer.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { JoinedQueue, SendReceipt, Settlement, SettleReceipt, WaitingJob } from '../../../queue/contract/contract.ts'
import type { AmendAnswer, JobChange } from '../../../queue/contract/store.ts'

/** By transaction: those of the queue itself that are open to a handler's function. */
export const joinedFiles = new WeakMap<object, JoinedFile>()

/** The queue inside a transaction on its file. It records whether it was changed. Everything is synchronous. */
export class JoinedFile implements JoinedQueue {
  readonly #queue: JoinedQueue
  #hasChanged = false

  constructor(queue: JoinedQueue) {
    this.#queue = queue
  }

  /** Whether the commit may make work available to waiting workers. */
  get hasChanged(): boolean {
    return this.#hasChanged
  }

  send(envelopes: readonly Envelope[]): Answer<readonly SendReceipt[]> {
    this.#hasChanged = true
    return this.#queue.send(envelopes)
  }

  get(id: string): Answer<WaitingJob | null> {
    return this.#queue.get(id)
  }

  amend(changes: readonly JobChange[]): Answer<readonly AmendAnswer[]> {
    this.#hasChanged = true
    return this.#queue.amend(changes)
  }

  settle(settlement: Settlement): Answer<SettleReceipt> {
    this.#hasChanged = true
    return this.#queue.settle(settlement)
  }
}
