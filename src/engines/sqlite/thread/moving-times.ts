import { readRateLog } from '../../../queue/rules/limits/rate-window.ts'
import type { ClockJump } from '../../../queue/time/clock-jumps.ts'
import type { Connection } from '../file/connection.ts'
import type { SqliteStatement } from '../file/driver.ts'

/** A lock name that no program uses. */
const mark = 'treadle: the clock'
const forEver = 8.64e15
/** How far apart programs may see the same clock. */
const sameMs = 500

/**
 * Shifts running deadlines when the machine's clock was set, so that leases, rates, locks and heartbeats keep the time they had
 * left. All programs on the file notice the change, and the first one applies it. The clock offset that the stored times belong
 * to is kept as a lock that nothing ever acquires.
 */
export class MovingTimes {
  readonly #offset: SqliteStatement
  readonly #note: SqliteStatement
  readonly #moves: readonly SqliteStatement[]
  readonly #rates: SqliteStatement
  readonly #rate: SqliteStatement

  constructor(connection: Connection) {
    this.#offset = connection.prepare(`SELECT owner FROM treadle_locks WHERE name = '${mark}'`)
    this.#note = connection.prepare(
      `INSERT INTO treadle_locks (name, owner, host, pid, since, expires_at) VALUES ('${mark}', ?, '', 0, 0, ${forEver})
       ON CONFLICT (name) DO UPDATE SET owner = excluded.owner`,
    )
    this.#moves = [
      'UPDATE treadle_jobs SET lease_until = lease_until + ?1, started_at = started_at + ?1 WHERE state = 3',
      'UPDATE treadle_groups SET held_until = held_until + ?1 WHERE held_until > 0',
      `UPDATE treadle_locks SET since = since + ?1, expires_at = expires_at + ?1 WHERE name <> '${mark}'`,
      'UPDATE treadle_workers SET seen_at = seen_at + ?1, expires_at = expires_at + ?1',
    ].map((statement) => connection.prepare(statement))
    this.#rates = connection.prepare('SELECT scope, log FROM treadle_rates')
    this.#rate = connection.prepare('UPDATE treadle_rates SET log = ?, expires_at = expires_at + ? WHERE scope = ?')
  }

  move({ byMs, offsetMs }: ClockJump): void {
    const known = this.#offset.get() as { readonly owner: string } | undefined
    if (known !== undefined && Math.abs(Number(known.owner) - offsetMs) < sameMs) return
    for (const move of this.#moves) move.run(byMs)
    for (const { scope, log } of this.#rates.all() as { readonly scope: string; readonly log: string }[]) {
      const moved = readRateLog(log).map(([at, count]) => [at + byMs, count])
      this.#rate.run(JSON.stringify(moved), byMs, scope)
    }
    this.#note.run(String(offsetMs))
  }
}
