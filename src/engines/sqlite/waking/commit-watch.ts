import { stopwatch, systemClock } from '../../../core/time/clock.ts'
import type { SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import { isInTransaction } from '../transactions/callers-file.ts'

const firstLookMs = 1
const longestLookMs = 50
/** A transaction that is open for longer is left to the workers, who look by themselves now and then. */
const patienceMs = 30_000

/**
 * Wakes workers when the transaction of a caller is over. SQLite tells nobody of it, so the connection is looked at: as soon as the
 * program's own turn is over, where a transaction in one piece has ended, and then at longer and longer distances.
 */
export class CommitWatch {
  readonly #wake: () => void
  readonly #followed = new WeakSet<SqliteConnection>()

  constructor(wake: () => void) {
    this.#wake = wake
  }

  follow(connection: SqliteConnection): void {
    if (this.#followed.has(connection)) return
    this.#followed.add(connection)
    const elapsedMs = stopwatch()
    const look = (nextMs: number) => {
      // A driver that does not tell is taken to be at its end: whoever is woken too early looks again later.
      if (isInTransaction(connection) === true && elapsedMs() < patienceMs) {
        systemClock.timer(nextMs, () => look(Math.min(nextMs * 2, longestLookMs)), { unref: true })
        return
      }
      this.#followed.delete(connection)
      this.#wake()
    }
    queueMicrotask(() => look(firstLookMs))
  }
}
