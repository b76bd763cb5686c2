import type { HeldLock, LockAnswer, LockHolder } from '../contract.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'

/** Named locks with an end. Each call is one transaction, so nobody comes between looking and taking. */
export class Locks {
  readonly #expire: SqliteStatement
  readonly #take: SqliteStatement
  readonly #find: SqliteStatement
  readonly #free: SqliteStatement

  constructor(connection: Connection) {
    this.#expire = connection.prepare('DELETE FROM treadle_locks WHERE expires_at <= ?')
    this.#take = connection.prepare(
      `INSERT INTO treadle_locks (name, owner, host, pid, since, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid, expires_at = excluded.expires_at
       WHERE owner = excluded.owner`,
    )
    this.#find = connection.prepare('SELECT owner, host, pid, since, expires_at AS expiresAt FROM treadle_locks WHERE name = ?')
    this.#free = connection.prepare('DELETE FROM treadle_locks WHERE name = ? AND owner = ?')
  }

  lock(name: string, { owner, host, pid }: LockHolder, ttlMs: number, now: number): LockAnswer {
    this.#expire.run(now)
    const isTaken = Number(this.#take.run(name, owner, host, pid, now, now + ttlMs).changes) === 1
    return isTaken ? { held: true } : { held: false, by: { ...(this.#find.get(name) as HeldLock) } }
  }

  unlock(name: string, owner: string, now: number): boolean {
    this.#expire.run(now)
    return Number(this.#free.run(name, owner).changes) === 1
  }
}
