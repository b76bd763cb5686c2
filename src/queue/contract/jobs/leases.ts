import type { Envelope } from '../../../envelope/envelope.ts'
import type { KeyPattern } from '../../rules/claiming/key-pattern.ts'
import type { ClaimRules } from '../limits.ts'

export interface LeaseRequest extends ClaimRules {
  /**
   * Also claim jobs with any other key that matches these patterns, without limits of their own. An empty list matches all keys.
   * Used only if the backend has `patterns` or is a broker.
   */
  readonly others?: KeyPattern | null
  /** Claim only from these queues; null means all. Paused queues are skipped either way. */
  readonly queues: readonly string[] | null
  /**
   * Queues to leave out when all queues are requested. A hint for brokers: one that cannot exclude them may return their jobs
   * anyway.
   */
  readonly exceptQueues?: readonly string[]
  /** Claim only jobs with exactly this priority, if given. */
  readonly priority?: number | null
  /** Maximum number of jobs to claim. */
  readonly limit: number
  /** How long the leases last unless extended. */
  readonly leaseMs: number
  /** The worker that makes the claim. Shown to people, and used to address cancellations to it. */
  readonly owner: string
  /** Used for expired leases that the claim finds on its way: see `reap`. */
  readonly maxRescues: number
  /**
   * The owner holds other jobs at the same time. Its death then counts as a rescue of each of them, but ends none of them as
   * poisoned.
   */
  readonly amongOthers?: boolean
  /** How long a job must wait to gain one level of priority; null or absent means strict priority. */
  readonly ageingMs?: number | null
}

/** A worker's claim on one envelope. It ends at `expiresAt` unless extended. */
export interface Lease {
  readonly token: string
  /** The envelope as it was sent, but possibly without its links, and with the time at which it was due. */
  readonly envelope: Envelope
  /** 1 for the first run. */
  readonly attempt: number
  /** How many of its owners have died so far; 0 if absent. */
  readonly rescues?: number
  /** By the program's clock at the moment the lease was returned. The lease runs from when it was granted. */
  readonly expiresAt: number
  /** The job is part of a workflow, or another job was waiting for it when it was claimed. Absent means no. */
  readonly linked?: boolean
}

export interface LeaseBatch {
  readonly leases: readonly Lease[]
  /**
   * When the next waiting job falls due, the next rate limit frees up or the next lease expires, as far as the backend knows. If
   * there may be more to claim right away, this is not later than now, even if fewer jobs were returned than requested. By the
   * program's clock.
   */
  readonly nextAt: number | null
  /** Tokens of this owner's leases whose jobs were asked to stop. */
  readonly cancelled: readonly string[]
}

export interface ReapReport {
  /** Jobs that went back to the queue. */
  readonly returned: number
  /** Jobs that ended as dead (`poisoned`). */
  readonly poisoned: number
}
