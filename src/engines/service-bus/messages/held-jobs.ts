import type { Envelope } from '../../../envelope/envelope.ts'
import { earliest } from '../../../queue/time/earliest.ts'
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
  /** When the broker makes it available to others. */
  lockedUntil: number
}

/** A job that is leased to a worker of this program. */
export interface HeldJob extends LockedJob {
  readonly token: string
  readonly owner: string
  /** When the lease ends; the lock may end later. */
  expiresAt: number
  amongOthers: boolean
  /**
   * The scheduled message that reports the job as begun unless it is cancelled. It replaces the locked message, which is gone by
   * then.
   */
  begun: { readonly entity: Entity; readonly number: SequenceNumber } | null
}

/** The leases of this program. The token is the lock's, which is different for each delivery. */
export class HeldJobs {
  readonly #jobs = new Map<string, HeldJob>()

  add(job: HeldJob): void {
    this.#jobs.set(job.token, job)
  }

  get(token: string): HeldJob | undefined {
    return this.#jobs.get(token)
  }

  /** The caller that takes a job has to end it. */
  take(token: string): HeldJob | undefined {
    const job = this.#jobs.get(token)
    this.#jobs.delete(token)
    return job
  }

  expired(now: number, deadOwners: readonly string[] = []): readonly HeldJob[] {
    return [...this.#jobs.values()].filter(({ expiresAt, owner }) => expiresAt <= now || deadOwners.includes(owner))
  }

  get nextExpiry(): number | null {
    return earliest([...this.#jobs.values()].map(({ expiresAt }) => expiresAt))
  }

  /** Jobs whose leases end after their locks. */
  outliving(): readonly HeldJob[] {
    return [...this.#jobs.values()].filter(({ begun, lockedUntil, expiresAt }) => begun === null && lockedUntil < expiresAt)
  }
}
