import type { Envelope } from '../../../envelope/envelope.ts'
import type { ReceivedMessage, SequenceNumber } from '../connections/client.ts'
import type { Entity } from '../connections/entity.ts'
import type { JobState } from './message.ts'

/** A message that this program has locked. */
export interface LockedJob {
  readonly entity: Entity
  readonly message: ReceivedMessage
  readonly envelope: Envelope
  readonly state: JobState
  /** How many owners of the job have died so far. */
  readonly rescues: number
  /** When the broker gives it to somebody else. */
  lockedUntil: number
}

/** One that is leased to a worker of this program. */
export interface HeldJob extends LockedJob {
  readonly token: string
  readonly owner: string
  /** When the lease ends; the lock may end later. */
  expiresAt: number
  amongOthers: boolean
  /** The message that will tell of the job's having begun when nobody cancels it. The locked one is gone then. */
  begun: { readonly entity: Entity; readonly number: SequenceNumber } | null
}

/** The leases of this program. A token is that of the lock, which is another one for each delivery. */
export class HeldJobs {
  readonly #jobs = new Map<string, HeldJob>()

  add(job: HeldJob): void {
    this.#jobs.set(job.token, job)
  }

  get(token: string): HeldJob | undefined {
    return this.#jobs.get(token)
  }

  /** Whoever takes it ends it. */
  take(token: string): HeldJob | undefined {
    const job = this.#jobs.get(token)
    this.#jobs.delete(token)
    return job
  }

  expired(now: number, deadOwners: readonly string[] = []): readonly HeldJob[] {
    return [...this.#jobs.values()].filter(({ expiresAt, owner }) => expiresAt <= now || deadOwners.includes(owner))
  }

  get nextExpiry(): number | null {
    let next: number | null = null
    for (const { expiresAt } of this.#jobs.values()) if (next === null || expiresAt < next) next = expiresAt
    return next
  }

  /** Those whose lease is longer than their lock. */
  outliving(): readonly HeldJob[] {
    return [...this.#jobs.values()].filter(({ begun, lockedUntil, expiresAt }) => begun === null && lockedUntil < expiresAt)
  }
}
