/** How many jobs, for each that may run at once, may have ended without its being written. */
const share = 3
/** Where jobs take next to no time, fewer would make batches that are smaller than the disk and the network can take. */
const mostShort = 300
const shortMs = 1
/** About as many jobs decide whether jobs are short. */
const memory = 64

/** At most so many ends are written at once: while one half of those that may be unwritten is on its way, others fill the other half. */
export function largestSettle(concurrency: number): number {
  return Math.ceil(Math.max(share * concurrency, mostShort) / 2)
}

/**
 * Bounds how many jobs have ended without its being written. A kill repeats them, so nothing is begun while there are too many.
 * Where most jobs take less than a millisecond the bound is higher, because writing each end takes longer than the job.
 */
export class UnsettledLimit {
  readonly #usual: number
  #shortShare = 0
  #count = 0

  constructor(concurrency: number) {
    this.#usual = share * concurrency
  }

  get count(): number {
    return this.#count
  }

  get hasRoom(): boolean {
    return this.#count < this.#most
  }

  ended(durationMs: number): void {
    this.#count++
    this.#shortShare += ((durationMs < shortMs ? 1 : 0) - this.#shortShare) / memory
  }

  /** True where there was no room before. */
  settled(): boolean {
    return this.#count-- >= this.#most
  }

  get #most(): number {
    return this.#shortShare > 0.5 ? Math.max(this.#usual, mostShort) : this.#usual
  }
}
