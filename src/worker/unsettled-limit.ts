/** So many jobs for each that may run at once. */
const share = 3
/** A smaller number would make batches of less than the disk and the network can take, where jobs take next to no time. */
const mostShort = 300
const shortMs = 1
/** About so many jobs decide whether jobs are short. */
const memory = 64

/**
 * How many jobs may have ended without its being written: a kill repeats them. Where most jobs take less than a millisecond, it is
 * more of them, since to write each end takes longer than the job.
 */
export class UnsettledLimit {
  readonly #concurrency: number
  #shortShare = 0
  #count = 0

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  get count(): number {
    return this.#count
  }

  get most(): number {
    const usual = share * this.#concurrency
    return this.#shortShare > 0.5 ? Math.max(usual, mostShort) : usual
  }

  ended(durationMs: number): void {
    this.#count++
    this.#shortShare += ((durationMs < shortMs ? 1 : 0) - this.#shortShare) / memory
  }

  settled(): void {
    this.#count--
  }
}
