import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase } from './session.ts'
import type { Settling } from './settling.ts'
import { writeToken } from './token.ts'

interface LostRow {
  readonly id: string
  readonly lane: number
  readonly token: string
}

/**
 * Claims whose answers were lost with the connection: they may have been made, and then nobody knows of their leases. Before the
 * next claim such jobs go back to the queue, so that they neither wait for the end of their leases nor are counted as if a worker
 * had died with them.
 */
export class LostClaims {
  readonly #database: SqlDatabase
  readonly #settling: Settling
  /** When their leases are over. */
  readonly #until = new Map<string, number>()

  constructor(database: SqlDatabase, settling: Settling) {
    this.#database = database
    this.#settling = settling
  }

  async around<Answer>(claim: string, until: () => number, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call()
    } catch (thrown) {
      this.#until.set(claim, until())
      throw thrown
    }
  }

  /** A claim that is not found may still be under way on the server, so it is looked for until its leases would be over. */
  async giveBack(time: QueueTime): Promise<void> {
    for (const [claim, until] of this.#until) if (until <= time.now()) this.#until.delete(claim)
    if (this.#until.size === 0) return
    const claims = [...this.#until.keys()]
    const rows = await this.#database.all<LostRow>('SELECT id, lane, token FROM {jobs} WHERE state = 3 AND token IN (?)', [
      claims,
    ])
    if (rows.length === 0) return
    const given = rows.map(({ id, lane, token }) => ({ token: writeToken(id, lane, token), kind: 'snooze', delayMs: 0 }) as const)
    await this.#settling.settle(given, time)
  }
}
