import type { OnceClaim } from '../contract.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** Idempotency keys: held by a running job, kept by a finished one. */
export class Once {
  readonly #addresses: Addresses
  readonly #find: SqliteStatement
  readonly #running: SqliteStatement
  readonly #claim: SqliteStatement
  readonly #sweep: SqliteStatement

  constructor(connection: Connection, addresses: Addresses) {
    this.#addresses = addresses
    this.#find = connection.prepare('SELECT job_id, done_until FROM treadle_once WHERE key = ?')
    this.#running = connection.prepare('SELECT 1 FROM treadle_jobs WHERE seq = ? AND state = 3')
    this.#claim = connection.prepare(
      `INSERT INTO treadle_once (key, job_id) VALUES (?, ?)
       ON CONFLICT (key) DO UPDATE SET job_id = excluded.job_id, done_until = NULL`,
    )
    this.#sweep = connection.prepare(
      'DELETE FROM treadle_once WHERE key IN (SELECT key FROM treadle_once WHERE done_until <= ? LIMIT ?)',
    )
  }

  claim(key: string, jobId: string, now: number): OnceClaim {
    const held = this.#find.get(key) as { job_id: string; done_until: number | null } | undefined
    if (held !== undefined && held.done_until !== null && held.done_until > now) return 'done'
    if (held !== undefined && held.done_until === null && held.job_id !== jobId && this.#isRunning(held.job_id)) return 'busy'
    this.#claim.run(key, jobId)
    return 'claimed'
  }

  #isRunning(jobId: string): boolean {
    const seq = this.#addresses.find(jobId)
    return seq !== undefined && this.#running.get(seq) !== undefined
  }

  sweep(now: number, limit: number): number {
    return Number(this.#sweep.run(now, limit).changes)
  }
}
