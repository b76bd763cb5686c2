import { type Steps, wait } from '../../../core/answer.ts'
import type { HeldLock, LockAnswer, LockHolder } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'

/** Named locks that expire. */
export class Locks {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  *lock(name: string, holder: LockHolder, ttlMs: number, time: QueueTime): Steps<LockAnswer> {
    for (;;) {
      if (yield* wait(this.#database.transaction((session) => renew(session, name, holder, ttlMs, time)))) return { held: true }
      const answer = yield* wait(this.#database.transaction((session) => take(session, name, holder, ttlMs, time)))
      if (answer !== null) return answer
    }
  }

  *unlock(name: string, owner: string, now: number): Steps<boolean> {
    const values = [name, owner, now]
    return (yield* wait(this.#database.run('DELETE FROM {locks} WHERE name = ? AND owner = ? AND expires_at > ?', values))) === 1
  }
}

/** The time counts from when the row is locked, however long that took. */
function* renew(
  session: SqlSession,
  name: string,
  { owner, host, pid }: LockHolder,
  ttlMs: number,
  time: QueueTime,
): Steps<boolean> {
  const [held] = yield* wait(
    session.all<Pick<LockRow, 'owner' | 'expires_at'>>('SELECT owner, expires_at FROM {locks} WHERE name = ? FOR UPDATE', [name]),
  )
  const now = time.now()
  if (held === undefined || held.owner !== owner || held.expires_at <= now) return false
  yield* wait(session.run('UPDATE {locks} SET host = ?, pid = ?, expires_at = ? WHERE name = ?', [host, pid, now + ttlMs, name]))
  return true
}

/**
 * Of several concurrent callers, the first writes the row and the others wait for it. Null if this owner has it after all, or if
 * it was released in the meantime.
 */
function* take(
  session: SqlSession,
  name: string,
  { owner, host, pid }: LockHolder,
  ttlMs: number,
  time: QueueTime,
): Steps<LockAnswer | null> {
  const now = time.now()
  yield* wait(session.run('DELETE FROM {locks} WHERE expires_at <= ?', [now]))
  const row = { name, owner, host, pid, since: now, expires_at: now + ttlMs }
  const written = yield* wait(session.insertNew('locks', ['name', 'owner', 'host', 'pid', 'since', 'expires_at'], [row], 'name'))
  if (written.size === 1) {
    // It may have waited for another owner that took the lock and released it.
    const since = time.now()
    if (since > now)
      yield* wait(session.run('UPDATE {locks} SET since = ?, expires_at = ? WHERE name = ?', [since, since + ttlMs, name]))
    return { held: true }
  }
  const [by] = yield* wait(session.all<LockRow>('SELECT owner, host, pid, since, expires_at FROM {locks} WHERE name = ?', [name]))
  if (by === undefined || by.owner === owner) return null
  return { held: false, by: heldLockOf(by) }
}

interface LockRow extends LockHolder {
  readonly since: number
  readonly expires_at: number
}

function heldLockOf({ owner, host, pid, since, expires_at }: LockRow): HeldLock {
  return { owner, host, pid, since, expiresAt: expires_at }
}
