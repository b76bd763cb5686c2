import { answerOf } from '../../core/answer.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import { type ChangingDeps, sendOrChange } from './changing-holders.ts'
import type { Plan, WrittenPayload } from './sealing.ts'

/**
 * Sends jobs that may change the waiting job that holds their unique key. Within a process, sends with the same key run one after
 * the other.
 */
export class Holders {
  readonly #deps: ChangingDeps
  readonly #lasts = new Map<string, Promise<unknown>>()

  constructor(deps: ChangingDeps) {
    this.#deps = deps
  }

  send(plan: Plan, payload: WrittenPayload): Promise<SendReceipt> {
    return this.#inTurn(`${plan.definition.job}\n${payload.uniqueKey}`, async () =>
      answerOf(sendOrChange(plan, payload, this.#deps)),
    )
  }

  /** Resolves when all calls of `send` have been answered. */
  async idle(): Promise<void> {
    while (this.#lasts.size > 0) await Promise.allSettled(this.#lasts.values())
  }

  #inTurn<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer> {
    const turn = (this.#lasts.get(key) ?? Promise.resolve()).then(work, work)
    this.#lasts.set(key, turn)
    const end = () => {
      if (this.#lasts.get(key) === turn) this.#lasts.delete(key)
    }
    turn.then(end, end)
    return turn
  }
}
