/** What is so small is refused last: it is seldom what fills the memory. */
const smallBytes = 64 * 1024

/** What all connections of a listener keep of requests that are not complete, or not answered. */
export class UnfinishedBytes {
  readonly #max: number
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  get total(): number {
    return this.#total
  }

  /** Not even small requests may take more. */
  get isOverfull(): boolean {
    return this.#total > 2 * this.#max
  }

  /** A connection keeps other bytes than before. False where that is more than there is room for. */
  change(before: number, now: number): boolean {
    this.#total += now - before
    return this.#total <= this.#max || (now <= smallBytes && !this.isOverfull)
  }
}
