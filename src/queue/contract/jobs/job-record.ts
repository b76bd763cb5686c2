import type { Json } from '../../../core/text/json.ts'
import type { FailurePolicy } from '../../../envelope/envelope.ts'
import type { AttemptError, DeadReason } from '../failure.ts'
import type { JobState } from '../job-state.ts'

/** Everything the queue knows about a job. */
export interface JobRecord {
  readonly id: string
  readonly number: number | null
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly priority: number
  readonly state: JobState
  /**
   * The text that was signed together with the payload, and the signature: see `openEnvelope`. All other fields are only as
   * trustworthy as the database.
   */
  readonly identity: string
  readonly signature: string | null
  /** JSON texts, exactly as written. */
  readonly payload: string
  readonly result: string | null
  /** Signs the result and the fact that the job ended with it: see `verifyResult`. */
  readonly seal: string | null
  readonly progress: string | null
  readonly meta: Readonly<Record<string, Json>>
  /** Labels for finding the job. */
  readonly tags: readonly string[]
  /** Attempts that were started and not given back. */
  readonly attempts: number
  readonly maxRetries: number
  /** How long an attempt may take before it fails; null means no limit. */
  readonly timeoutMs: number | null
  readonly singleInstance: boolean
  /** When to run it again after it is done, in the repeat language; null if it runs once. */
  readonly repeat: string | null
  /** How often its lease expired because a worker died. */
  readonly rescues: number
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly schedule: string | null
  /** The instant that a scheduled run stands for. */
  readonly occurrence: number | null
  readonly group: string | null
  /** The job that created it and waits for it. */
  readonly parent: string | null
  /** The id shared by all jobs of its workflow; null if it is not part of one. */
  readonly root: string | null
  /** Why it is dead, or why it was skipped. */
  readonly reason: DeadReason | string | null
  readonly errors: readonly AttemptError[]
  readonly createdAt: number
  readonly runAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly owner: string | null
  readonly leaseExpiresAt: number | null
  readonly cancelRequested: boolean
  /**
   * What is wrong with its row, if something other than Treadle has written to it. Unreadable values were left out or moved into
   * bounds.
   */
  readonly spoilt?: readonly string[]
}

/** A lease as seen from outside the run: without the payload. */
export interface HeldLease {
  readonly token: string
  readonly owner: string
  readonly id: string
  readonly job: string
  /** The text that was signed: see `parseIdentity`. */
  readonly identity: string
  readonly attempt: number
  readonly claimedAt: number
  readonly expiresAt: number
}

/** A job that another one waits for. The record is kept with the waiting job even after this job is deleted. */
export interface JobLink {
  readonly kind: 'dependency' | 'child'
  readonly id: string
  /** Null if no such job ever existed. */
  readonly job: string | null
  /** For a child: the key its parent gave it. */
  readonly key: string | null
  readonly onFailure: FailurePolicy
  /** How it ended, or its current state. */
  readonly state: JobState | 'missing'
  /** The waiting job cannot continue until this one has ended. */
  readonly waiting: boolean
  /** A JSON text. */
  readonly result: string | null
  /** Signs that end: see `verifyResult`. */
  readonly seal: string | null
  /** Why it did not succeed. */
  readonly error: string | null
}
