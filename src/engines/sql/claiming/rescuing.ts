import { type Steps, wait } from '../../../core/answer.ts'
import type { ReapReport } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import type { LoadedQueue } from '../units/loaded/loaded-queue.ts'
import type { Units } from '../units/units.ts'

const rescuesPerCall = 1_000

/** Ends leases that have expired or whose owners are dead. */
export class Rescuing {
  readonly #database: SqlDatabase
  readonly #units: Units

  constructor(database: SqlDatabase, units: Units) {
    this.#database = database
    this.#units = units
  }

  /**
   * Jobs with expired leases go back to the queue and get their attempt back, or become `dead` if that happened too often. If a
   * job was asked to stop, it is cancelled.
   */
  *reap(maxRescues: number, deadOwners: readonly string[], time: QueueTime): Steps<ReapReport> {
    const ids = [...(yield* this.#heldBy(deadOwners)), ...(yield* this.#expired(time.now()))]
    if (ids.length === 0) return { returned: 0, poisoned: 0 }
    const rule = (queue: LoadedQueue) => {
      const { leases } = queue.rules
      for (const id of ids) queue.job(id)
      leases.expire(deadOwners, queue.now)
      return leases.reap(maxRescues, queue.now)
    }
    return (yield* this.#units.run(ids, time, rule)).answer
  }

  /** Skips locked rows: a worker that ends its job in its own transaction may take its time. */
  *#expired(now: number): Steps<readonly string[]> {
    const { from, is, at } = this.#database.dialect.inState(stateNumber.running)
    const rows = yield* wait(
      this.#database.all<{ id: string }>(
        `SELECT id FROM ${from} WHERE ${is} AND ${at} <= ? ORDER BY ${at}, id LIMIT ${rescuesPerCall} FOR UPDATE SKIP LOCKED`,
        [now],
      ),
    )
    return rows.map(({ id }) => id)
  }

  *#heldBy(owners: readonly string[]): Steps<readonly string[]> {
    if (owners.length === 0) return []
    const { from, is } = this.#database.dialect.inState(stateNumber.running)
    const rows = yield* wait(this.#database.all<{ id: string }>(`SELECT id FROM ${from} WHERE ${is} AND owner IN (?)`, [owners]))
    return rows.map(({ id }) => id)
  }
}
