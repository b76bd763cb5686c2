import type { OnceClaim } from '../contract.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** A held key is looked at again after so long: a job that runs for longer keeps it. */
const heldAtLeastMs = 3_600_000

/** Idempotency keys: held by a running job, kept by a finished one. */
export class Once {
  readonly #addresses: Addresses
  readonly #find: SqliteStatement
  readonly #underWay: SqliteStatement
  readonly #claim: SqliteStatement
  readonly #sweep: SqliteStatement
  readonly #held: SqliteStatement
  readonly #delete: SqliteStatement

  constructor(connection: Connection, addresses: Addresses) {
    this.#addresses = addresses
    this.#find = connection.prepare('SELECT job_id, done_until, result, seal FROM treadle_once WHERE key = ?')
    this.#underWay = connection.prepare('SELECT 1 FROM treadle_jobs WHERE seq = ? AND state IN (2, 3)')
    this.#claim = connection.prepare(
      `INSERT INTO treadle_once (key, job_id, claimed_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET job_id = excluded.job_id, claimed_at = excluded.claimed_at, 
         done_until = NULL, result = NULL, seal = NULL`,
    )
    this.#held = connection.prepare(
      'SELECT key, job_id FROM treadle_once WHERE done_until IS NULL AND claimed_at <= ? ORDER BY claimed_at LIMIT ?',
    )
    this.#delete = connection.prepare('DELETE FROM treadle_once WHERE key = ?')
    this.#sweep = connection.prepare(
      'DELETE FROM treadle_once WHERE key IN (SELECT key FROM treadle_once WHERE done_until <= ? LIMIT ?)',
    )
  }

  claim(key: string, jobId: string, now: number): OnceClaim {
    const held = this.#find.get(key) as HeldRow | undefined
    if (held !== undefined && held.done_until !== null && held.done_until > now) {
      return { kind: 'done', result: held.result, seal: held.seal }
    }
    const isHeldByOther = held !== undefined && held.done_until === null && held.job_id !== jobId
    if (isHeldByOther && this.#isUnderWay(held.job_id)) return { kind: 'busy' }
    this.#claim.run(key, jobId, now)
    return { kind: 'claimed' }
  }

  /** A job that waits for its children has begun, and holds its key. */
  #isUnderWay(jobId: string): boolean {
    const seq = this.#addresses.find(jobId)
    return seq !== undefined && this.#underWay.get(seq) !== undefined
  }

  sweep(now: number, limit: number): number {
    return Number(this.#sweep.run(now, limit).changes) + this.#sweepHeld(now, limit)
  }

  /** Keys of jobs that ended otherwise than well, and will not ask again. */
  #sweepHeld(now: number, limit: number): number {
    const held = this.#held.all(now - heldAtLeastMs, limit) as { key: string; job_id: string }[]
    const free = held.filter(({ job_id }) => !this.#isUnderWay(job_id))
    for (const { key } of free) this.#delete.run(key)
    return free.length
  }
}

interface HeldRow {
  readonly job_id: string
  readonly done_until: number | null
  readonly result: string | null
  readonly seal: string | null
}
