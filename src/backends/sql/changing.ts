import type { JobStore, ProgressReport } from '../store.ts'
import { type JobRow, stateAfter, unresulted } from './job-row.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase } from './session.ts'
import { cancelledAt } from './settling.ts'
import { stateNumber } from './tables.ts'
import { isJobId, readToken } from './token.ts'
import type { Transactions } from './transactions.ts'

type Answer<Method extends 'cancel' | 'reschedule'> = Awaited<ReturnType<JobStore[Method]>>

/** Changes jobs and queues on people's word. */
export class Changing {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions

  constructor(database: SqlDatabase, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
  }

  cancel(id: string, time: QueueTime): Promise<Answer<'cancel'>> {
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

  reschedule(id: string, runAt: number, time: QueueTime): Promise<Answer<'reschedule'>> {
    return this.#change(id, time, (hand, { state }) => {
      if (state > stateNumber.running) return 'ended'
      if (state === stateNumber.running) return 'claimed'
      const run_at = hand.dueAt(runAt)
      hand.change(id, { state: state === stateNumber.blocked ? state : stateAfter(run_at - hand.now), run_at })
      return 'moved'
    })
  }

  /** The last word of a lease counts. */
  async report(reports: readonly ProgressReport[]): Promise<void> {
    const running = { state: stateNumber.running }
    const rows = new Map(
      reports.flatMap(({ token: text, progress }) => {
        const token = readToken(text)
        return token === undefined ? [] : [[text, { id: token.id, token: token.claim, ...running, progress }]]
      }),
    )
    // In one order, so that two programs do not wait for each other.
    const sorted = [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
    if (sorted.length === 0) return
    await this.#database.transaction((session) => session.update('jobs', ['id', 'token', 'state'], ['progress'], sorted))
  }

  async pause(queue: string): Promise<void> {
    await this.#database.insertNew('paused', ['queue'], [{ queue }], 'queue')
  }

  async resume(queue: string): Promise<void> {
    await this.#database.run('DELETE FROM {paused} WHERE queue = ?', [queue])
  }

  async pausedQueues(): Promise<readonly string[]> {
    const rows = await this.#database.all<{ queue: string }>('SELECT queue FROM {paused} ORDER BY queue')
    return rows.map(({ queue }) => queue)
  }

  async #change<Given>(
    id: string,
    time: QueueTime,
    change: (hand: JobsInHand, row: JobRow) => Given,
  ): Promise<Given | 'missing'> {
    if (!isJobId(id)) return 'missing'
    let answer: Given | 'missing' = 'missing'
    await this.#transactions.withJobs([id], time, async (hand) => {
      const row = hand.get(id)
      answer = row === undefined ? 'missing' : change(hand, row)
    })
    return answer
  }
}
