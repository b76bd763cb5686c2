/**
 * Natural batching: one batch is in flight at a time, and items that arrive in the meantime form the next one. There is no timer,
 * so an idle system has the latency of one call and a busy one has the throughput of bulk calls.
 */
export class Batcher<Item, Answer> {
  readonly #flush: (items: readonly Item[]) => Promise<readonly Answer[]>
  readonly #maxItems: number
  readonly #gather: (pending: () => number) => Promise<void>
  #items: Item[] = []
  #waiters: Waiter<Answer>[] = []
  #running: Promise<void> | undefined

  /**
   * `gather` decides how long the first item after an idle period waits for others; by default, for what its caller adds
   * synchronously.
   */
  constructor(
    flush: (items: readonly Item[]) => Promise<readonly Answer[]>,
    maxItems: number,
    gather: (pending: () => number) => Promise<void> = async () => {},
  ) {
    this.#flush = flush
    this.#maxItems = maxItems
    this.#gather = gather
  }

  get pending(): number {
    return this.#items.length
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#items.push(item)
      this.#waiters.push({ resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when everything added so far has been answered. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #run(): Promise<void> {
    await this.#gather(() => this.#items.length)
    while (this.#items.length > 0) {
      const items = this.#items.splice(0, this.#maxItems)
      const waiters = this.#waiters.splice(0, this.#maxItems)
      await this.#send(items, waiters)
    }
    this.#running = undefined
  }

  async #send(items: Item[], waiters: Waiter<Answer>[]): Promise<void> {
    try {
      const answers = await this.#flush(items)
      waiters.forEach((waiter, index) => {
        waiter.resolve(answers[index] as Answer)
      })
    } catch (thrown) {
      for (const waiter of waiters) waiter.reject(thrown)
    }
  }
}

interface Waiter<Answer> {
  resolve(answer: Answer): void
  reject(thrown: unknown): void
}
