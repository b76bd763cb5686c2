import { type Steps, wait } from '../../../core/answer.ts'
import { digest } from '../../../core/text/digest.ts'
import type { OnceClaim } from '../../../queue/contract/contract.ts'
import { onceAnswer } from '../../../queue/rules/keys/once-keys.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { claimOf, isJobId } from '../rows/lease-token.ts'
import { keptKeyOf, type OnceRow, onceColumns } from '../rows/once-row.ts'
import { isRunning, stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/** How old a held key must be before the sweep checks it; a job that is still running keeps its key. */
const heldAtLeastMs = 3_600_000

/** Idempotency keys: held by a running job, kept by a finished one. */
export class Once {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  *claim(key: string, jobId: string, time: QueueTime): Steps<OnceClaim> {
    const claim = { once_key: digest(key), job_id: jobId, claimed_at: time.now(), seal: yield* this.#tokenOf(jobId) }
    for (;;) {
      if (claim.seal !== null && (yield* this.#isNew(claim))) return { kind: 'claimed' }
      const answer = yield* wait(this.#database.transaction((session) => claimKnown(session, claim, time)))
      if (answer !== null) return answer
    }
  }

  /** The token of its lease, while it runs. */
  *#tokenOf(jobId: string): Steps<string | null> {
    if (!isJobId(jobId)) return null
    const question = `SELECT token FROM {jobs by PRIMARY} WHERE id = ? AND ${isRunning}`
    const [row] = yield* wait(this.#database.all<{ token: string | null }>(question, [jobId]))
    return claimOf(row?.token ?? null)
  }

  *#isNew(claim: Claim): Steps<boolean> {
    const columns = ['once_key', 'job_id', 'claimed_at', 'seal'] as const
    return (yield* wait(this.#database.insertNew('once', columns, [{ ...claim }], 'once_key'))).size === 1
  }

  /** Keys that were held but never kept are not counted. */
  *sweep(now: number, limit: number): Steps<number> {
    const swept = yield* this.#sweepDone(now, limit)
    yield* this.#sweepHeld(now, limit)
    return swept
  }

  *#sweepDone(now: number, limit: number): Steps<number> {
    const done = yield* wait(
      this.#database.all<{ once_key: string }>('SELECT once_key FROM {once} WHERE done_until <= ? LIMIT ?', [now, limit]),
    )
    const keys = done.map(({ once_key }) => once_key)
    if (keys.length === 0) return 0
    return yield* wait(this.#database.run('DELETE FROM {once} WHERE once_key IN (?) AND done_until <= ?', [keys, now]))
  }

  /** Keys of jobs that ended without success and will not ask again. */
  *#sweepHeld(now: number, limit: number): Steps<void> {
    const heldBefore = now - heldAtLeastMs
    const held = yield* wait(
      this.#database.all<Holder & { once_key: string }>(
        'SELECT once_key, job_id, seal FROM {once} WHERE done_until IS NULL AND claimed_at <= ? ORDER BY claimed_at LIMIT ?',
        [heldBefore, limit],
      ),
    )
    const underWay = yield* tokensUnderWay(
      this.#database,
      held.map(({ job_id }) => job_id),
    )
    const keys = held.filter((each) => !isHeld(each, underWay)).map(({ once_key }) => once_key)
    if (keys.length === 0) return
    // A key that was claimed again since then has a different time.
    yield* wait(
      this.#database.run('DELETE FROM {once} WHERE once_key IN (?) AND done_until IS NULL AND claimed_at <= ?', [
        keys,
        heldBefore,
      ]),
    )
  }
}

/** The job that claimed a key. While the key is held, `seal` contains the lease token; older versions of Treadle wrote none. */
interface Holder {
  readonly job_id: string
  readonly seal: string | null
}

interface Claim extends Holder {
  readonly once_key: string
  readonly claimed_at: number
}

/** Concurrent claims of the same key wait here. Null if the key existed and is gone. */
function* claimKnown(session: SqlSession, claim: Claim, time: QueueTime): Steps<OnceClaim | null> {
  const { once_key, job_id, seal: token } = claim
  const [held] = yield* wait(session.all<OnceRow>(`SELECT ${onceColumns} FROM {once} WHERE once_key = ? FOR UPDATE`, [once_key]))
  // A job that is not running holds nothing.
  if (held === undefined) return token === null ? { kind: 'claimed' } : null
  const now = time.now()
  const kept = keptKeyOf(held)
  const mayBeBusy = kept === undefined && held.job_id !== job_id
  const answer = onceAnswer(kept, mayBeBusy && isHeld(held, yield* tokensUnderWay(session, [held.job_id])), now)
  if (answer.kind !== 'claimed' || token === null) return answer
  yield* wait(
    session.run('UPDATE {once} SET job_id = ?, claimed_at = ?, done_until = NULL, result = NULL, seal = ? WHERE once_key = ?', [
      job_id,
      now,
      token,
      once_key,
    ]),
  )
  return { kind: 'claimed' }
}

/** Held by the run that claimed it, not by a later run of the same job. */
function isHeld({ job_id, seal }: Holder, underWay: ReadonlyMap<string, string | null>): boolean {
  return underWay.has(job_id) && (seal === null || underWay.get(job_id) === seal)
}

/** The last tokens of those of these jobs that are running, or whose handler has finished and that wait for their children. */
function* tokensUnderWay(session: SqlSession, jobIds: readonly string[]): Steps<ReadonlyMap<string, string | null>> {
  const ids = jobIds.filter(isJobId)
  if (ids.length === 0) return new Map()
  const isBlocked = `state + 0 = ${stateNumber.blocked} AND started_at IS NOT NULL`
  const rows = yield* wait(
    session.all<{ id: string; token: string | null }>(
      `SELECT id, token FROM {jobs} WHERE id IN (?) AND (${isBlocked} OR ${isRunning})`,
      [ids],
    ),
  )
  return new Map(rows.map(({ id, token }) => [id, claimOf(token)]))
}
