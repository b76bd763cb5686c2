import { type Steps, wait } from '../../../core/answer.ts'
import type { JobStore, ProgressReport } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type JobRow, stateAfter, unresulted } from '../rows/job-row.ts'
import { heldAs, isJobId, readToken } from '../rows/lease-token.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import { cancelledAt } from '../settling/settling.ts'
import type { Transactions } from '../transactions/transactions.ts'

type AnswerOf<Method extends 'cancel' | 'reschedule'> = Awaited<ReturnType<JobStore[Method]>>

/** Changes jobs and queues at a user's request. */
export class Changing {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions

  constructor(database: SqlDatabase, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
  }

  cancel(id: string, time: QueueTime): Steps<AnswerOf<'cancel'>> {
    return this.#change(id, time, (hand, { state }) => {
      if (state > stateNumber.running) return 'ended'
      if (state === stateNumber.running) {
        hand.change(id, { cancel: 1 })
        return 'requested'
      }
      hand.change(id, { ...cancelledAt(hand.now), ...unresulted })
      return 'cancelled'
    })
  }

  reschedule(id: string, runAt: number, time: QueueTime): Steps<AnswerOf<'reschedule'>> {
    return this.#change(id, time, (hand, { state }) => {
      if (state > stateNumber.running) return 'ended'
      if (state === stateNumber.running) return 'claimed'
      const run_at = hand.dueAt(runAt)
      hand.change(id, { state: state === stateNumber.blocked ? state : stateAfter(run_at - hand.now), run_at })
      return 'moved'
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

  *pause(queue: string): Steps<void> {
    yield* wait(this.#database.insertNew('paused', ['queue'], [{ queue }], 'queue'))
  }

  *resume(queue: string): Steps<void> {
    yield* wait(this.#database.run('DELETE FROM {paused} WHERE queue = ?', [queue]))
  }

  /** Queues by name, jobs in the format of `pausedJobKey`. */
  *paused(): Steps<readonly string[]> {
    const rows = yield* wait(this.#database.all<{ queue: string }>('SELECT queue FROM {paused} ORDER BY queue'))
    return rows.map(({ queue }) => queue)
  }

  *#change<Given>(id: string, time: QueueTime, change: (hand: LoadedJobs, row: JobRow) => Given): Steps<Given | 'missing'> {
    if (!isJobId(id)) return 'missing'
    return yield* this.#transactions.changeJobs<Given | 'missing'>([id], time, (hand) => {
      const row = hand.get(id)
      return row === undefined ? 'missing' : change(hand, row)
    })
  }
}
