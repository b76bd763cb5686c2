/** What is so small is never refused: it can not be what fills the memory. */
const smallBytes = 64 * 1024

/** What all connections of a listener keep of requests that are not complete. */
export class UnfinishedBytes {
  readonly #max: number
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  get total(): number {
    return this.#total
  }

  /** A connection keeps other bytes than before. False where that is more than there is room for. */
  change(before: number, now: number): boolean {
    this.#total += now - before
    return this.#total <= this.#max || now <= smallBytes
  }
}
