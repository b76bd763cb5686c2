/**
 * Lets completions run concurrently and all other settlements alone. The SDK's AMQP library (rhea) merges settlements of one turn
 * of the event loop and gives the second of two neighbours the outcome of the first: an abandoned message could be completed.
 */
export class SettlementGate {
  readonly #together = new Set<Promise<unknown>>()
  #lastAlone: Promise<unknown> = Promise.resolve()

  together<Answer>(settle: () => Promise<Answer>): Promise<Answer> {
    const settled = this.#lastAlone.then(settle)
    const over: Promise<unknown> = settled.catch(() => {}).finally(() => this.#together.delete(over))
    this.#together.add(over)
    return settled
  }

  alone<Answer>(settle: () => Promise<Answer>): Promise<Answer> {
    const before = [...this.#together]
    const settled = this.#lastAlone.then(() => Promise.all(before)).then(settle)
    this.#lastAlone = settled.catch(() => {})
    return settled
  }
}
