/** Maximum number of ended but unsettled jobs, per job that may run at once. */
const share = 3
/** Limit for very short jobs. With fewer, batches would be smaller than the disk and the network can handle. */
const mostShort = 300
const shortMs = 1
/** Approximate number of recent jobs that determine whether jobs are short. */
const memory = 64

/**
 * Maximum number of settlements per batch. It is half of the limit, so that one half can be written while the other half fills
 * up.
 */
export function largestSettle(concurrency: number): number {
  return Math.ceil(Math.max(share * concurrency, mostShort) / 2)
}

/**
 * Limits how many jobs have ended without being settled. If the worker is killed, these run again, so no job starts while there
 * are too many. If most jobs take less than a millisecond, the limit is higher, because settling takes longer than the job.
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

  /** Returns whether there was no room before. */
  settled(): boolean {
    return this.#count-- >= this.#most
  }

  get #most(): number {
    return this.#shortShare > 0.5 ? Math.max(this.#usual, mostShort) : this.#usual
  }
}
