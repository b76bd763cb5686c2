import { type Steps, wait } from '../../../core/answer.ts'
import type { Cancellation, JobStore, Pausable, Paused, ProgressReport } from '../../../queue/contract/store.ts'
import type { Rules } from '../../../queue/rules/assembly.ts'
import { pausedIn, pausedKey } from '../../../queue/rules/claiming/pausing.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { heldAs, readToken } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase } from '../session.ts'
import type { Units } from '../units/units.ts'

/** Changes jobs and queues at a user's request. */
export class Changing {
  readonly #database: SqlDatabase
  readonly #units: Units

  constructor(database: SqlDatabase, units: Units) {
    this.#database = database
    this.#units = units
  }

  cancel(id: string, time: QueueTime): Steps<Cancellation> {
    return this.#decide([id], time, ({ managing }) => managing.cancel(id))
  }

  /** If a job with the same key is sent at the same time, the transaction is retried, so that one of them comes first. */
  retry(ids: readonly string[], time: QueueTime): Steps<Awaited<ReturnType<JobStore['retry']>>> {
    return this.#decide(ids, time, ({ managing }) => managing.retry(ids))
  }

  holders(ids: readonly string[], time: QueueTime): Steps<readonly (string | null)[]> {
    return this.#decide(ids, time, ({ managing }) => managing.holders(ids))
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

  *#decide<Value>(ids: readonly string[], time: QueueTime, decide: (rules: Rules) => Value): Steps<Value> {
    return (yield* this.#units.run(ids, time, ({ rules }) => decide(rules))).answer
  }
}
