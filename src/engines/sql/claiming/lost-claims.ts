import { type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { writeToken } from '../rows/lease-token.ts'
import type { SqlDatabase } from '../session.ts'
import type { Settling } from '../settling/settling.ts'

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

  *around<Value>(claim: string, until: () => number, call: () => Steps<Value>): Steps<Value> {
    try {
      return yield* call()
    } catch (thrown) {
      this.#until.set(claim, until())
      throw thrown
    }
  }

  /** A claim that is not found may still be under way on the server, so it is looked for until its leases would be over. */
  *giveBack(time: QueueTime): Steps<void> {
    for (const [claim, until] of this.#until) if (until <= time.now()) this.#until.delete(claim)
    if (this.#until.size === 0) return
    const claims = [...this.#until.keys()]
    const rows = yield* wait(
      this.#database.all<LostRow>('SELECT id, lane, token FROM {jobs} WHERE state = 3 AND token IN (?)', [claims]),
    )
    if (rows.length === 0) return
    const given = rows.map(({ id, lane, token }) => ({ token: writeToken(id, lane, token), kind: 'snooze', delayMs: 0 }) as const)
    yield* this.#settling.settle(given, time)
  }
}
