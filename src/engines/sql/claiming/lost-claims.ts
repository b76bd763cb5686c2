import { type Steps, wait } from '../../../core/answer.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { writeToken } from '../rows/lease-token.ts'
import type { SqlDatabase } from '../session.ts'
import type { Settling } from '../settling.ts'

interface LostRow {
  readonly id: string
  readonly lane: number
  readonly token: string
}

/**
 * Claims whose answers were lost with the connection: they may have been made, and then no worker knows of their leases. Such
 * jobs go back to the queue before the next claim, so that they do not wait for their leases to expire and are not counted as if
 * a worker had died while running them.
 */
export class LostClaims {
  readonly #database: SqlDatabase
  readonly #settling: Settling
  /** When their leases expire. */
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

  /**
   * A claim that is not found may still be in progress on the server, so keep looking for it until its leases would have expired.
   */
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
