import type { Answer } from '../../core/answer.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import type { PlainRow } from './rows/sent-rows.ts'
import type { SqlDatabase } from './session.ts'
import type { Word } from './waking/waker.ts'

/**
 * The paths that nearly all jobs take, in as few statements as the engine allows. Nothing depends on these jobs: no unique keys,
 * no groups, no limits, no workflows.
 */
export interface Shortcuts {
  /**
   * Stores and counts new jobs in one transaction, which may also send the notification. Returns the ids of those that did not
   * exist yet; null means all of them.
   */
  store(database: SqlDatabase, rows: readonly PlainRow[], word: Word | null): Answer<ReadonlySet<string> | null>
  /**
   * Ends leases of jobs without dependents as succeeded, and counts them. Returns the ids of those that were held; null means all
   * of them.
   */
  succeed(database: SqlDatabase, done: readonly DoneLease[], time: QueueTime): Answer<ReadonlySet<string> | null>
  /** Claims the first ready jobs of these lanes, best first. */
  claim(database: SqlDatabase, request: ShortClaim): Answer<ShortClaimed>
  /** Whether `claim` leaves out paused queues. If not, the caller must leave them out. */
  readonly heedsPauses: boolean
}

/** `result` is a JSON text. */
export interface DoneLease {
  readonly id: string
  readonly lane: number
  readonly claim: string
  readonly result: string | null
  readonly seal: string | null
}

export interface OpenLane {
  readonly lane: number
  readonly queue: string
  readonly job: string
  /** Lanes with a lower level come first; within a level, the job with the earlier time, less the lane's head start. */
  readonly level: number
  readonly headStartMs: number
}

export interface ShortClaim {
  readonly lanes: readonly OpenLane[]
  readonly limit: number
  readonly claim: string
  readonly owner: string
  readonly time: QueueTime
  readonly leaseMs: number
  /** A number of `handling`. */
  readonly begun: number
}

export interface ShortClaimed {
  readonly rows: readonly ClaimedRow[]
  /** Whether other workers were claiming the same jobs: more may be ready. */
  readonly isContended: boolean
}

/** What a lease is made of. */
export interface ClaimedRow {
  readonly id: string
  readonly lane: number
  readonly grp: string
  readonly identity: string
  readonly payload: string
  readonly signature: string | null
  readonly unique_key: string | null
  readonly unique_until: number | null
  readonly created_at: number
  readonly run_at: number
  readonly attempts: number
  readonly rescues: number
  readonly number: number | null
  readonly linked: number
  /** When the lease expires. */
  readonly lease_until: number
}

export const claimedColumns = [
  'id',
  'lane',
  'grp',
  'identity',
  'payload',
  'signature',
  'unique_key',
  'unique_until',
  'created_at',
  'run_at',
  'attempts',
  'rescues',
  'number',
  'linked',
  'lease_until',
] as const satisfies readonly (keyof ClaimedRow)[]
