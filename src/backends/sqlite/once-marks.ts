import type { OnceMark } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** Keeps the idempotency keys of jobs that have succeeded. */
export class OnceMarks {
  readonly #keep: SqliteStatement

  constructor(connection: Connection) {
    this.#keep = connection.prepare(
      `INSERT INTO treadle_once (key, job_id, claimed_at, done_until) VALUES (?1, '', 0, ?2)
       ON CONFLICT (key) DO UPDATE SET done_until = excluded.done_until`,
    )
  }

  keep(once: OnceMark | null | undefined, now: number): void {
    if (once != null) this.#keep.run(once.key, now + once.keepMs)
  }
}
