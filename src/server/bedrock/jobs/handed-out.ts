import type { Clock } from '../../../core/time/clock.ts'
import type { Identity } from '../../../envelope/envelope.ts'
import type { Lease } from '../../../queue/contract/contract.ts'
import type { Grant } from '../../access/grant.ts'

/** A job that was handed out to a client, which knows only its number. */
export interface HandedOut {
  readonly lease: Lease
  readonly identity: Identity
  /** The grant of the client that holds it. */
  readonly grant: Grant
  /** Whether it does not repeat, has no parent or children, and is not a mock. Such a job is ended by a single call. */
  isPlain: boolean
}

const fewEnough = 10_000

/**
 * The jobs that this server has handed out and that have not ended yet. This is a cache: the queue holds the same information.
 */
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

  /** Forgets jobs whose leases have expired: they belong to others by now. */
  #sweep(): void {
    const now = this.#clock.now()
    for (const [number, { lease }] of this.#jobs) if (lease.expiresAt <= now) this.#jobs.delete(number)
    this.#sweepAt = Math.max(fewEnough, this.#jobs.size * 2)
  }
}
