import type { Rate } from '../limits.ts'
import { type RateLog, readRateLog } from '../rate-window.ts'
import { Tokens } from '../tokens.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** What rates have let through: one row for each scope that has let something through of late. */
export class Rates {
  readonly #read: SqliteStatement
  readonly #write: SqliteStatement
  readonly #sweep: SqliteStatement

  constructor(connection: Connection) {
    this.#read = connection.prepare('SELECT log FROM treadle_rates WHERE scope = ?')
    this.#write = connection.prepare(
      `INSERT INTO treadle_rates (scope, log, expires_at) VALUES (?, ?, ?)
       ON CONFLICT (scope) DO UPDATE SET log = excluded.log, expires_at = excluded.expires_at`,
    )
    this.#sweep = connection.prepare(
      'DELETE FROM treadle_rates WHERE scope IN (SELECT scope FROM treadle_rates WHERE expires_at <= ? LIMIT ? + 0)',
    )
  }

  logOf(scope: string): RateLog {
    const row = this.#read.get(scope) as { log: string } | undefined
    return row === undefined ? [] : readRateLog(row.log)
  }

  tokens(scope: string, rate: Rate, now: number): Tokens {
    return new Tokens(scope, rate, this.logOf(scope), now)
  }

  /** Writes down what was taken, and forgets twice as many scopes that nobody asked of for long: so none stays for ever. */
  write(taken: readonly Tokens[], now: number): void {
    if (taken.length === 0) return
    for (const { scope, log, rate } of taken) {
      this.#write.run(scope, JSON.stringify(log), (log.at(-1)?.[0] ?? now) + rate.perMs)
    }
    this.#sweep.run(now, 2 * taken.length)
  }
}
