/** A lock per name: work under the same name runs one at a time, in order. */
export class NameLocks {
  readonly #last = new Map<string, Promise<unknown>>()

  alone<Answer>(name: string, work: () => Promise<Answer>): Promise<Answer> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    const ended = mine.then(
      () => {},
      () => {},
    )
    this.#last.set(name, ended)
    void ended.then(() => {
      if (this.#last.get(name) === ended) this.#last.delete(name)
    })
    return mine
  }

  /** Takes several locks, always in the same order, to avoid deadlocks. */
  allAlone<Answer>(names: readonly string[], work: () => Promise<Answer>): Promise<Answer> {
    return this.#inTurn([...new Set(names)].sort(), 0, work)
  }

  #inTurn<Answer>(names: readonly string[], from: number, work: () => Promise<Answer>): Promise<Answer> {
    const name = names[from]
    return name === undefined ? work() : this.alone(name, () => this.#inTurn(names, from + 1, work))
  }
}
