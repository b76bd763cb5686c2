import { type TimeReading, timeNow } from '../../../core/time/clock.ts'
import type { StandInRequest } from '../../../queue/contract/contract.ts'
import type { Connection } from '../file/connection.ts'
import type { SqliteStatement } from '../file/driver.ts'
import { identityIn } from '../statements.ts'

/** When the event loop that a stand-in stands in for gave its last sign of life, and what time it is now. */
export interface Standstill {
  readonly since: number
  readonly now: TimeReading
}

// What cannot be read has no timeout. The place of the timeout in an identity is fixed: see `identityTail`.
const timeout = `CASE WHEN json_valid(${identityIn('treadle_jobs')}) THEN json_extract(${identityIn('treadle_jobs')}, '$[7]') END`

/** Renews what an owner holds while its event loop stands still: no job beyond its own time, and none forever. */
export class Keeping {
  readonly #keep: SqliteStatement
  readonly #keepWorker: SqliteStatement

  constructor(connection: Connection) {
    this.#keep = connection.prepare(
      `UPDATE treadle_jobs SET lease_until = min(?2, coalesce(started_at + ${timeout} + ?3, ?4))
       WHERE state = 3 AND owner = ?1 AND lease_until < min(?2, coalesce(started_at + ${timeout} + ?3, ?4))`,
    )
    // It is still there, but it was not seen.
    this.#keepWorker = connection.prepare('UPDATE treadle_workers SET expires_at = max(expires_at, min(?2, ?3)) WHERE owner = ?1')
  }

  keep({ owner, leaseMs, graceMs, longestMs }: StandInRequest, standstill: Standstill): void {
    const { since } = standstill
    const now = timeNow(standstill.now)
    this.#keep.run(owner, now + leaseMs, graceMs, since + longestMs)
    this.#keepWorker.run(owner, now + leaseMs, since + longestMs)
  }
}
