import type { Clock } from '../../../core/time/clock.ts'
import type { Identity } from '../../../envelope/envelope.ts'
import type { Lease } from '../../../queue/contract/contract.ts'
import type { Grant } from '../../access/grant.ts'

/** A job that was given to a client, which knows it by its number alone. */
export interface HandedOut {
  readonly lease: Lease
  readonly identity: Identity
  /** Of whoever has it. */
  readonly grant: Grant
  /** Nothing hangs on it: it is not repeated, has neither parent nor children, and is for no test. Then its end is one call. */
  isPlain: boolean
}

const fewEnough = 10_000

/** What this server has handed out and nobody has ended yet, as far as it remembers. It is all in the queue, too. */
export class HandedOutJobs {
  readonly #clock: Clock
  readonly #jobs = new Map<number, HandedOut>()
  #sweepAt = fewEnough

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(number: number, job: HandedOut): void {
    this.#jobs.set(number, job)
    if (this.#jobs.size >= this.#sweepAt) this.#sweep()
  }

  get(number: number): HandedOut | undefined {
    return this.#jobs.get(number)
  }

  remove(number: number): void {
    this.#jobs.delete(number)
  }

  /** Those whose leases have run out are others' by now. */
  #sweep(): void {
    const now = this.#clock.now()
    for (const [number, { lease }] of this.#jobs) if (lease.expiresAt <= now) this.#jobs.delete(number)
    this.#sweepAt = Math.max(fewEnough, this.#jobs.size * 2)
  }
}
