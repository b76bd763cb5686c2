import { type Steps, wait } from '../../../core/answer.ts'
import { byStart, type WorkerPresence, type WorkerRecord, workerRecord } from '../../../queue/contract/stores/worker-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/**
 * One row per worker. The names of its jobs are in a separate table: there may be many, and they are written only when they
 * change.
 */
export class Workers {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  *announce({ jobs, ...said }: WorkerPresence, ttlMs: number, time: QueueTime): Steps<void> {
    const { owner } = said
    yield* wait(
      this.#database.transaction(function* (session) {
        yield* forgetExpired(session, time.now())
        const now = time.now()
        const row = { owner, seen_at: now, expires_at: now + ttlMs, said: JSON.stringify(said) }
        yield* wait(
          session.upsert(
            'workers',
            ['owner', 'seen_at', 'expires_at', 'said'],
            [row],
            ['owner'],
            ['seen_at', 'expires_at', 'said'],
          ),
        )
        yield* writeJobs(session, owner, JSON.stringify(jobs))
      }),
    )
  }

  *leave(owner: string): Steps<void> {
    yield* wait(this.#database.transaction((session) => forget(session, [owner])))
  }

  *list(now: number): Steps<readonly WorkerRecord[]> {
    const rows = yield* wait(
      this.#database.all<WorkerRow>(
        `SELECT workers.seen_at, workers.expires_at, workers.said, named.jobs
       FROM {workers} AS workers JOIN {worker_jobs} AS named ON named.owner = workers.owner WHERE workers.expires_at > ?`,
        [now],
      ),
    )
    return rows.flatMap((row) => workerRecord(row.said, row.jobs, row.seen_at, row.expires_at)).sort(byStart)
  }
}

function* forgetExpired(session: SqlSession, now: number): Steps<void> {
  const expired = yield* wait(
    session.all<{ owner: string }>('SELECT owner FROM {workers} WHERE expires_at <= ? ORDER BY owner FOR UPDATE SKIP LOCKED', [
      now,
    ]),
  )
  if (expired.length > 0) {
    yield* forget(
      session,
      expired.map(({ owner }) => owner),
    )
  }
}

function* forget(session: SqlSession, owners: readonly string[]): Steps<void> {
  yield* wait(session.run('DELETE FROM {workers} WHERE owner IN (?)', [owners]))
  yield* wait(session.run('DELETE FROM {worker_jobs} WHERE owner IN (?)', [owners]))
}

function* writeJobs(session: SqlSession, owner: string, jobs: string): Steps<void> {
  const same = yield* wait(session.all('SELECT owner FROM {worker_jobs} WHERE owner = ? AND jobs = ?', [owner, jobs]))
  if (same.length === 0) yield* wait(session.upsert('worker_jobs', ['owner', 'jobs'], [{ owner, jobs }], ['owner'], ['jobs']))
}

interface WorkerRow {
  readonly seen_at: number
  readonly expires_at: number
  /** JSON texts. */
  readonly said: string
  readonly jobs: string
}
