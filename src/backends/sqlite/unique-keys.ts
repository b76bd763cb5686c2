import type { UniqueUntil } from '../../envelope/envelope.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { holdsKey, untilNumber } from './schema.ts'

/** The row of a job, as far as its unique key goes. */
export interface KeyedRow {
  readonly id: string
  readonly unique_key: string | null
  readonly unique_until: number | null
  readonly started_at: number | null
}

/**
 * Unique keys that are held for a time or for ever, whatever becomes of their jobs. Those that are held by the state of a job
 * need no more than the unique index on jobs.
 */
export class UniqueKeys {
  readonly #living: SqliteStatement
  readonly #held: SqliteStatement
  readonly #heldOfMany: SqliteStatement
  readonly #take: SqliteStatement
  readonly #free: SqliteStatement
  readonly #sweep: SqliteStatement

  constructor(connection: Connection) {
    this.#living = connection.prepare(
      `SELECT id FROM treadle_jobs INDEXED BY treadle_jobs_unique WHERE unique_key = ? AND ${holdsKey}`,
    )
    const held = 'SELECT key, job_id FROM treadle_unique WHERE (until IS NULL OR until > ?)'
    this.#held = connection.prepare(`${held} AND key = ?`)
    this.#heldOfMany = connection.prepare(`${held} AND key IN (SELECT value FROM json_each(?))`)
    this.#take = connection.prepare(
      `INSERT INTO treadle_unique (key, job_id, until) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET job_id = excluded.job_id, until = excluded.until`,
    )
    this.#free = connection.prepare('DELETE FROM treadle_unique WHERE key = ? AND job_id = ?')
    this.#sweep = connection.prepare(
      'DELETE FROM treadle_unique WHERE key IN (SELECT key FROM treadle_unique WHERE until <= ? LIMIT ?)',
    )
  }

  /** The job that holds the key by its state. */
  livingHolder(key: string | null): string | undefined {
    return (this.#living.get(key) as { id: string } | undefined)?.id
  }

  /** The job that holds the key for a time or for ever. */
  lastingHolder(key: string | null, now: number): string | undefined {
    return (this.#held.get(now, key) as HeldRow | undefined)?.job_id
  }

  /** Those of the keys that are held for a time or for ever, with their holders. */
  lastingHolders(keys: readonly string[], now: number): Map<string, string> {
    const rows = this.#heldOfMany.all(now, JSON.stringify(keys)) as HeldRow[]
    return new Map(rows.map(({ key, job_id }) => [key, job_id]))
  }

  take(key: string, jobId: string, until: number): void {
    this.#take.run(key, jobId, until === untilNumber.ever ? null : until)
  }

  /** For a job that is over without ever having been claimed: it is as if it had never been sent. */
  freeUnclaimed({ id, unique_key, unique_until, started_at }: KeyedRow): void {
    if (started_at === null && isLasting(unique_until)) this.#free.run(unique_key, id)
  }

  /** Whether a job that is put back finds its key free of other jobs. What it no longer holds it takes again. */
  retake({ id, unique_key, unique_until }: KeyedRow, now: number): boolean {
    if (unique_key === null || unique_until === null) return true
    const lasting = this.lastingHolder(unique_key, now)
    if (lasting !== undefined) return lasting === id
    if (!isLasting(unique_until)) return true
    if (this.livingHolder(unique_key) !== undefined) return false
    if (unique_until === untilNumber.ever || unique_until > now) this.take(unique_key, id, unique_until)
    return true
  }

  sweep(now: number, limit: number): number {
    return Number(this.#sweep.run(now, limit).changes)
  }
}

/** Held whatever becomes of the job. */
export function isLasting(until: number | null): until is number {
  return until !== null && until !== untilNumber.ended && until !== untilNumber.started
}

/** An instant so early that it would be taken for another number is over like any other. */
export function writeUntil(until: UniqueUntil): number {
  return typeof until === 'number' ? Math.max(until, untilNumber.ever + 1) : untilNumber[until]
}

export function readUntil(until: number | null): UniqueUntil {
  switch (until) {
    case null:
    case untilNumber.ended:
      return 'ended'
    case untilNumber.started:
      return 'started'
    case untilNumber.ever:
      return 'ever'
    default:
      return until
  }
}

interface HeldRow {
  readonly key: string
  readonly job_id: string
}
