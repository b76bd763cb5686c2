import { stopwatch, systemClock } from '../../../core/time/clock.ts'
import type { SqliteConnection } from '../../../definition/transactions/caller-transaction.ts'
import { isInTransaction } from '../transactions/callers-file.ts'

const firstLookMs = 1
const longestLookMs = 50
/** How long to watch a transaction. If it stays open for longer, the workers find its jobs when they next poll. */
const patienceMs = 30_000

/**
 * Wakes workers when a caller's transaction has ended. SQLite does not announce that, so this polls the connection: first when
 * the program's current turn is over, when a synchronous transaction has already ended, then at growing intervals.
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
      // If the driver cannot tell, assume the transaction has ended: a worker that is woken too early polls again later.
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
