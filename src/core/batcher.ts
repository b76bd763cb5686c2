type Flush<Item, Answer> = (items: readonly Item[]) => Promise<readonly (Answer | Later<Answer>)[]>

/** The answer to an item for which the batches after it do not wait. */
export class Later<Answer> {
  readonly answer: Promise<Answer>

  constructor(answer: Promise<Answer>) {
    this.answer = answer
  }
}

/**
 * Natural batching: one batch is in flight at a time, and items that arrive in the meantime form the next one. There is no timer,
 * so an idle system has the latency of one call and a busy one has the throughput of bulk calls.
 */
export class Batcher<Item, Answer> {
  readonly #flush: Flush<Item, Answer>
  readonly #maxItems: number
  readonly #gather: (pending: () => number) => Promise<void>
  #items: Item[] = []
  #waiters: Waiter<Answer>[] = []
  #running: Promise<void> | undefined

  /**
   * `gather` decides how long the first item after an idle period waits for others; by default, for what its caller adds
   * synchronously.
   */
  constructor(flush: Flush<Item, Answer>, maxItems: number, gather: (pending: () => number) => Promise<void> = async () => {}) {
    this.#flush = flush
    this.#maxItems = maxItems
    this.#gather = gather
  }

  get pending(): number {
    return this.#items.length
  }

  /** The items that wait for the next batch. */
  get waiting(): readonly Item[] {
    return this.#items
  }

  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => this.addFor(item, { resolve, reject }))
  }

  /** Like `add`, without a promise: for callers that add very many. The waiter must not throw. */
  addFor(item: Item, waiter: Waiter<Answer>): void {
    this.#items.push(item)
    this.#waiters.push(waiter)
    this.#running ??= this.#run()
  }

  /** Resolves when everything added so far has been answered. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** The next batch is sent before the waiters of the last one are told, so that its receiver is never idle meanwhile. */
  async #run(): Promise<void> {
    await this.#gather(() => this.#items.length)
    let sent = this.#sendNext()
    while (sent !== undefined) {
      const reply = await sent.reply
      const next = this.#sendNext()
      tell(sent.waiters, reply)
      // If none was waiting, what the waiters add at once forms the next batch.
      if (next === undefined) await Promise.resolve()
      sent = next ?? this.#sendNext()
    }
    this.#running = undefined
  }

  #sendNext(): Sent<Answer> | undefined {
    if (this.#items.length === 0) return undefined
    const [items, waiters] = this.#take()
    return { waiters, reply: this.#replyTo(items) }
  }

  async #replyTo(items: Item[]): Promise<Reply<Answer>> {
    try {
      return { answers: await this.#flush(items) }
    } catch (thrown) {
      return { thrown }
    }
  }

  /** Hands over the lists themselves if all of it fits into one batch, as usual. */
  #take(): readonly [Item[], Waiter<Answer>[]] {
    if (this.#items.length > this.#maxItems) {
      return [this.#items.splice(0, this.#maxItems), this.#waiters.splice(0, this.#maxItems)]
    }
    const taken = [this.#items, this.#waiters] as const
    this.#items = []
    this.#waiters = []
    return taken
  }
}

/** A batch in flight. */
interface Sent<Answer> {
  readonly waiters: readonly Waiter<Answer>[]
  /** Never rejects. */
  readonly reply: Promise<Reply<Answer>>
}

type Reply<Answer> = { readonly answers: readonly (Answer | Later<Answer>)[] } | { readonly thrown: unknown }

function tell<Answer>(waiters: readonly Waiter<Answer>[], reply: Reply<Answer>): void {
  if ('thrown' in reply) for (const waiter of waiters) waiter.reject(reply.thrown)
  else
    for (let index = 0; index < waiters.length; index++) tellOne(waiters[index] as Waiter<Answer>, reply.answers[index] as Answer)
}

function tellOne<Answer>(waiter: Waiter<Answer>, answer: Answer | Later<Answer>): void {
  if (answer instanceof Later) {
    answer.answer.then(
      (known) => waiter.resolve(known),
      (thrown: unknown) => waiter.reject(thrown),
    )
  } else waiter.resolve(answer)
}

/** Is told the answer to one item. */
export interface Waiter<Answer> {
  resolve(answer: Answer): void
  reject(thrown: unknown): void
}
