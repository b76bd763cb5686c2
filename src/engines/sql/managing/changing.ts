import { type Steps, wait } from '../../../core/answer.ts'
import { pausedIn, pausedKey } from '../../../queue/claiming/pausing.ts'
import {
  type Cancellation,
  noCancellation,
  type Pausable,
  type Paused,
  type ProgressReport,
} from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { unresulted } from '../rows/job-row.ts'
import { heldAs, isJobId, readToken } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import { cancelledAt } from '../settling/settling.ts'
import type { Transactions } from '../transactions/transactions.ts'

/** Changes jobs and queues at a user's request. */
export class Changing {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions

  constructor(database: SqlDatabase, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
  }

  *cancel(id: string, time: QueueTime): Steps<Cancellation> {
    if (!isJobId(id)) return noCancellation
    return yield* this.#transactions.changeJobs<Cancellation>([id], time, (hand) => {
      const row = hand.get(id)
      if (row === undefined) return noCancellation
      if (row.state > stateNumber.running) return { ...noCancellation, ended: 1 }
      if (row.state === stateNumber.running) {
        hand.change(id, { cancel: 1 })
        return { ...noCancellation, requested: 1 }
      }
      hand.change(id, { ...cancelledAt(hand.now), ...unresulted })
      return { ...noCancellation, cancelled: 1 }
    })
  }

  /** The last report of each lease counts. */
  *report(reports: readonly ProgressReport[]): Steps<void> {
    const running = { state: stateNumber.running }
    const rows = new Map(
      reports.flatMap(({ token: text, progress }) => {
        const token = readToken(text)
        if (token === undefined) return []
        return heldAs(token).map((held) => [`${text} ${held}`, { id: token.id, token: held, ...running, progress }])
      }),
    )
    // In a fixed order, so that two programs do not deadlock.
    const sorted = [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
    if (sorted.length === 0) return
    yield* wait(
      this.#database.transaction((session) => wait(session.update('jobs', ['id', 'token', 'state'], ['progress'], sorted))),
    )
  }

  *setPaused(target: Pausable, paused: boolean): Steps<void> {
    const queue = pausedKey(target)
    yield* wait(
      paused
        ? this.#database.insertNew('paused', ['queue'], [{ queue }], 'queue')
        : this.#database.run('DELETE FROM {paused} WHERE queue = ?', [queue]),
    )
  }

  *paused(): Steps<Paused> {
    const rows = yield* wait(this.#database.all<{ queue: string }>('SELECT queue FROM {paused} ORDER BY queue'))
    return pausedIn(rows.map(({ queue }) => queue))
  }
}
