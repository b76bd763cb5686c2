import { byStart, type WorkerPresence, type WorkerRecord, workerRecord } from '../presence.ts'
import type { Connection } from './connection.ts'
import { readAll, type SqliteStatement } from './driver.ts'

/** The workers' own rows. The names of their jobs have a table of their own: they may be many, and are written only when they change. */
export class Workers {
  readonly #expire: SqliteStatement
  readonly #expireJobs: SqliteStatement
  readonly #announce: SqliteStatement
  readonly #announceJobs: SqliteStatement
  readonly #leave: SqliteStatement
  readonly #leaveJobs: SqliteStatement
  readonly #list: SqliteStatement

  constructor(connection: Connection) {
    this.#expire = connection.prepare('DELETE FROM treadle_workers WHERE expires_at <= ?')
    this.#expireJobs = connection.prepare(
      'DELETE FROM treadle_worker_jobs WHERE owner NOT IN (SELECT owner FROM treadle_workers)',
    )
    this.#announce = connection.prepare(
      `INSERT INTO treadle_workers (owner, seen_at, expires_at, said) VALUES (?, ?, ?, ?)
       ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at, expires_at = excluded.expires_at, said = excluded.said`,
    )
    this.#announceJobs = connection.prepare(
      `INSERT INTO treadle_worker_jobs (owner, jobs) VALUES (?, ?)
       ON CONFLICT (owner) DO UPDATE SET jobs = excluded.jobs WHERE jobs <> excluded.jobs`,
    )
    this.#leave = connection.prepare('DELETE FROM treadle_workers WHERE owner = ?')
    this.#leaveJobs = connection.prepare('DELETE FROM treadle_worker_jobs WHERE owner = ?')
    this.#list = connection.prepare(
      `SELECT seen_at AS seenAt, expires_at AS expiresAt, said, jobs
       FROM treadle_workers JOIN treadle_worker_jobs USING (owner) WHERE expires_at > ?`,
    )
  }

  announce({ jobs, ...said }: WorkerPresence, ttlMs: number, now: number): void {
    if (Number(this.#expire.run(now).changes) > 0) this.#expireJobs.run()
    this.#announce.run(said.owner, now, now + ttlMs, JSON.stringify(said))
    this.#announceJobs.run(said.owner, JSON.stringify(jobs))
  }

  leave(owner: string): void {
    this.#leave.run(owner)
    this.#leaveJobs.run(owner)
  }

  list(now: number): readonly WorkerRecord[] {
    return (readAll(this.#list, now) as WorkerRow[])
      .flatMap(({ said, jobs, seenAt, expiresAt }) => workerRecord(said, jobs, seenAt, expiresAt))
      .toSorted(byStart)
  }
}

interface WorkerRow {
  readonly seenAt: number
  readonly expiresAt: number
  /** JSON texts. */
  readonly said: string
  readonly jobs: string
}
