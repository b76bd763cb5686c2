/** Requests up to this size are refused last, because they are rarely what fills the memory. */
const smallBytes = 64 * 1024

/** Memory that all connections of a listener use for requests that are incomplete or unanswered. */
export class UnfinishedBytes {
  readonly #max: number
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  get total(): number {
    return this.#total
  }

  /** Whether there is no room left even for small requests. */
  get isOverfull(): boolean {
    return this.#total > 2 * this.#max
  }

  /** Updates the bytes that a connection holds. Returns false if they exceed the available room. */
  change(before: number, now: number): boolean {
    this.#total += now - before
    return this.#total <= this.#max || (now <= smallBytes && !this.isOverfull)
  }
}
