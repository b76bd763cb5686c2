import type { Lease } from '../backends/contract.ts'

/**
 * How long ago each lease that may still be begun was asked for, or renewed. Counted from the question and not from the answer: the
 * queue may have given it at any time in between.
 */
export class LeaseTerms {
  readonly #leaseMs: number
  readonly #sinceAsked = new Map<string, () => number>()

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  granted(leases: readonly Lease[], sinceAsked: () => number): void {
    for (const { token } of leases) this.#sinceAsked.set(token, sinceAsked)
  }

  renewed(token: string, sinceAsked: () => number): void {
    if (this.#sinceAsked.has(token)) this.#sinceAsked.set(token, sinceAsked)
  }

  forget(token: string): void {
    this.#sinceAsked.delete(token)
  }

  /** So much of its time is left at least; nothing of one that is not known. */
  leftMs(token: string): number {
    const elapsedMs = this.#sinceAsked.get(token)?.()
    return elapsedMs === undefined ? 0 : this.#leaseMs - elapsedMs
  }
}
