import type { OnceMark } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** Keeps the idempotency keys of jobs that have succeeded, with their results. */
export class OnceMarks {
  readonly #keep: SqliteStatement

  constructor(connection: Connection) {
    this.#keep = connection.prepare(
      `INSERT INTO treadle_once (key, job_id, claimed_at, done_until, result, seal) VALUES (?1, '', 0, ?2, ?3, ?4)
       ON CONFLICT (key) DO UPDATE SET done_until = excluded.done_until, result = excluded.result, seal = excluded.seal`,
    )
  }

  keep(once: OnceMark | null | undefined, result: string | null, now: number): void {
    if (once == null) return
    this.#keep.run(once.key, now + once.keepMs, once.result === undefined ? result : once.result, once.seal ?? null)
  }
}
