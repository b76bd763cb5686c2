import type { HeldLock, LockAnswer, LockHolder } from '../contract.ts'
import type { SqlDatabase, SqlSession } from './session.ts'

/** Named locks with an end. */
export class Locks {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  async lock(name: string, holder: LockHolder, ttlMs: number, now: number): Promise<LockAnswer> {
    for (;;) {
      if (await this.#renew(name, holder, ttlMs, now)) return { held: true }
      const answer = await this.#database.transaction((session) => take(session, name, holder, ttlMs, now))
      if (answer !== null) return answer
    }
  }

  async unlock(name: string, owner: string, now: number): Promise<boolean> {
    const values = [name, owner, now]
    return (await this.#database.run('DELETE FROM {locks} WHERE name = ? AND owner = ? AND expires_at > ?', values)) === 1
  }

  async #renew(name: string, { owner, host, pid }: LockHolder, ttlMs: number, now: number): Promise<boolean> {
    const renewed = await this.#database.run(
      'UPDATE {locks} SET host = ?, pid = ?, expires_at = ? WHERE name = ? AND owner = ? AND expires_at > ?',
      [host, pid, now + ttlMs, name, owner, now],
    )
    return renewed === 1
  }
}

/**
 * Of several that come together the first one writes the row, and the others wait for it. Null where it is this owner's
 * after all, or was freed meanwhile.
 */
async function take(
  session: SqlSession,
  name: string,
  { owner, host, pid }: LockHolder,
  ttlMs: number,
  now: number,
): Promise<LockAnswer | null> {
  await session.run('DELETE FROM {locks} WHERE expires_at <= ?', [now])
  const row = { name, owner, host, pid, since: now, expires_at: now + ttlMs }
  const written = await session.insertNew('locks', ['name', 'owner', 'host', 'pid', 'since', 'expires_at'], [row], 'name')
  if (written.size === 1) return { held: true }
  const [by] = await session.all<LockRow>('SELECT owner, host, pid, since, expires_at FROM {locks} WHERE name = ?', [name])
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
