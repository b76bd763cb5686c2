import { type TimeReading, timeNow } from '../../../core/time/clock.ts'
import type { StandInRequest } from '../../../queue/contract/contract.ts'
import type { Connection } from '../file/connection.ts'
import type { SqliteStatement } from '../file/driver.ts'
import { identityIn } from '../statements.ts'

/** When the blocked event loop gave its last sign of life, and what time it is now. */
export interface Standstill {
  readonly since: number
  readonly now: TimeReading
}

// An unreadable identity has no timeout. The timeout's position in an identity is fixed: see `identityTail`.
const timeout = `CASE WHEN json_valid(${identityIn('treadle_jobs')}) THEN json_extract(${identityIn('treadle_jobs')}, '$[7]') END`

/** Renews an owner's leases while its event loop is blocked: no job beyond its own timeout, and none forever. */
export class Keeping {
  readonly #keep: SqliteStatement
  readonly #keepWorker: SqliteStatement

  constructor(connection: Connection) {
    this.#keep = connection.prepare(
      `UPDATE treadle_jobs SET lease_until = min(?2, coalesce(started_at + ${timeout} + ?3, ?4))
       WHERE state = 3 AND owner = ?1 AND lease_until < min(?2, coalesce(started_at + ${timeout} + ?3, ?4))`,
    )
    // Extends the worker's expiry but not `seen_at`: it is still there, but it was not seen.
    this.#keepWorker = connection.prepare('UPDATE treadle_workers SET expires_at = max(expires_at, min(?2, ?3)) WHERE owner = ?1')
  }

  keep({ owner, leaseMs, graceMs, longestMs }: StandInRequest, standstill: Standstill): void {
    const { since } = standstill
    const now = timeNow(standstill.now)
    this.#keep.run(owner, now + leaseMs, graceMs, since + longestMs)
    this.#keepWorker.run(owner, now + leaseMs, since + longestMs)
  }
}
