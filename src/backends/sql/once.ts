import { digest } from '../../core/digest.ts'
import type { OnceClaim } from '../contract.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { isRunning, stateNumber } from './tables.ts'
import { isJobId } from './token.ts'

/** A held key is looked at again after so long: a job that runs for longer keeps it. */
const heldAtLeastMs = 3_600_000

/** Idempotency keys: held by a running job, kept by a finished one. */
export class Once {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  async claim(key: string, jobId: string, time: QueueTime): Promise<OnceClaim> {
    const row = { once_key: digest(key), job_id: jobId, claimed_at: time.now() }
    for (;;) {
      const isNew = (await this.#database.insertNew('once', ['once_key', 'job_id', 'claimed_at'], [row], 'once_key')).size === 1
      if (isNew) return { kind: 'claimed' }
      const answer = await this.#database.transaction((session) => claimKnown(session, row, time))
      if (answer !== null) return answer
    }
  }

  async sweep(now: number, limit: number): Promise<number> {
    return (await this.#sweepDone(now, limit)) + (await this.#sweepHeld(now, limit))
  }

  async #sweepDone(now: number, limit: number): Promise<number> {
    const done = await this.#database.all<{ once_key: string }>('SELECT once_key FROM {once} WHERE done_until <= ? LIMIT ?', [
      now,
      limit,
    ])
    const keys = done.map(({ once_key }) => once_key)
    if (keys.length === 0) return 0
    return this.#database.run('DELETE FROM {once} WHERE once_key IN (?) AND done_until <= ?', [keys, now])
  }

  /** Keys of jobs that ended otherwise than well, and will not ask again. */
  async #sweepHeld(now: number, limit: number): Promise<number> {
    const heldBefore = now - heldAtLeastMs
    const held = await this.#database.all<{ once_key: string; job_id: string }>(
      'SELECT once_key, job_id FROM {once} WHERE done_until IS NULL AND claimed_at <= ? ORDER BY claimed_at LIMIT ?',
      [heldBefore, limit],
    )
    const underWay = await jobsUnderWay(
      this.#database,
      held.map(({ job_id }) => job_id),
    )
    const keys = held.filter(({ job_id }) => !underWay.has(job_id)).map(({ once_key }) => once_key)
    if (keys.length === 0) return 0
    // One that was claimed again meanwhile has another time.
    return this.#database.run('DELETE FROM {once} WHERE once_key IN (?) AND done_until IS NULL AND claimed_at <= ?', [
      keys,
      heldBefore,
    ])
  }
}

interface OnceRow {
  readonly job_id: string
  readonly done_until: number | null
  readonly result: string | null
  readonly seal: string | null
}

/** Whoever asks for the same key waits here. Null where the key was there and is gone. */
async function claimKnown(
  session: SqlSession,
  { once_key, job_id }: { readonly once_key: string; readonly job_id: string },
  time: QueueTime,
): Promise<OnceClaim | null> {
  const [held] = await session.all<OnceRow>('SELECT job_id, done_until, result, seal FROM {once} WHERE once_key = ? FOR UPDATE', [
    once_key,
  ])
  if (held === undefined) return null
  const now = time.now()
  if (held.done_until !== null && held.done_until > now) return { kind: 'done', result: held.result, seal: held.seal }
  const isHeldByOther = held.done_until === null && held.job_id !== job_id
  if (isHeldByOther && (await jobsUnderWay(session, [held.job_id])).size > 0) return { kind: 'busy' }
  await session.run(
    'UPDATE {once} SET job_id = ?, claimed_at = ?, done_until = NULL, result = NULL, seal = NULL WHERE once_key = ?',
    [job_id, now, once_key],
  )
  return { kind: 'claimed' }
}

/** A job that waits for its children has begun, and holds its key. */
async function jobsUnderWay(session: SqlSession, jobIds: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = jobIds.filter(isJobId)
  if (ids.length === 0) return new Set()
  const rows = await session.all<{ id: string }>(
    `SELECT id FROM {jobs} WHERE id IN (?) AND (state + 0 = ${stateNumber.blocked} OR ${isRunning})`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}
