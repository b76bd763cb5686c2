import { byStart, type WorkerPresence, type WorkerRecord, workerRecord } from '../presence.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase, SqlSession } from './session.ts'

/** The workers' own rows. The names of their jobs have a table of their own: they may be many, and are written only when they change. */
export class Workers {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  async announce({ jobs, ...said }: WorkerPresence, ttlMs: number, time: QueueTime): Promise<void> {
    const { owner } = said
    await this.#database.transaction(async (session) => {
      await forgetExpired(session, time.now())
      const now = time.now()
      const row = { owner, seen_at: now, expires_at: now + ttlMs, said: JSON.stringify(said) }
      await session.upsert(
        'workers',
        ['owner', 'seen_at', 'expires_at', 'said'],
        [row],
        ['owner'],
        ['seen_at', 'expires_at', 'said'],
      )
      await writeJobs(session, owner, JSON.stringify(jobs))
    })
  }

  async leave(owner: string): Promise<void> {
    await this.#database.transaction((session) => forget(session, [owner]))
  }

  async list(now: number): Promise<readonly WorkerRecord[]> {
    const rows = await this.#database.all<WorkerRow>(
      `SELECT workers.seen_at, workers.expires_at, workers.said, named.jobs
       FROM {workers} AS workers JOIN {worker_jobs} AS named ON named.owner = workers.owner WHERE workers.expires_at > ?`,
      [now],
    )
    return rows.flatMap((row) => workerRecord(row.said, row.jobs, row.seen_at, row.expires_at)).sort(byStart)
  }
}

async function forgetExpired(session: SqlSession, now: number): Promise<void> {
  const expired = await session.all<{ owner: string }>(
    'SELECT owner FROM {workers} WHERE expires_at <= ? ORDER BY owner FOR UPDATE SKIP LOCKED',
    [now],
  )
  if (expired.length > 0) {
    await forget(
      session,
      expired.map(({ owner }) => owner),
    )
  }
}

async function forget(session: SqlSession, owners: readonly string[]): Promise<void> {
  await session.run('DELETE FROM {workers} WHERE owner IN (?)', [owners])
  await session.run('DELETE FROM {worker_jobs} WHERE owner IN (?)', [owners])
}

async function writeJobs(session: SqlSession, owner: string, jobs: string): Promise<void> {
  const same = await session.all('SELECT owner FROM {worker_jobs} WHERE owner = ? AND jobs = ?', [owner, jobs])
  if (same.length === 0) await session.upsert('worker_jobs', ['owner', 'jobs'], [{ owner, jobs }], ['owner'], ['jobs'])
}

interface WorkerRow {
  readonly seen_at: number
  readonly expires_at: number
  /** JSON texts. */
  readonly said: string
  readonly jobs: string
}
