import { type Steps, wait } from '../../../core/answer.ts'
import { impatienceText } from '../../../queue/workflows/waiting.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { type Edge, linkOf } from './edges.ts'
import type { Endings } from './endings.ts'
import { endFor } from './waiting-jobs.ts'

/** Maximum number of jobs that one call ends because they waited too long. */
const mostImpatient = 1_000

/** Ends jobs that have waited too long for others. */
export class WaitTimeouts {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions
  readonly #endings: Endings

  constructor(database: SqlDatabase, transactions: Transactions, endings: Endings) {
    this.#database = database
    this.#transactions = transactions
    this.#endings = endings
  }

  *giveUp(time: QueueTime): Steps<void> {
    // Takes no lock if there is nothing to end.
    if ((yield* overdue(this.#database, time.now())).length === 0) return
    yield* wait(this.#transactions.alone(time, (hand) => this.#giveUpAll(hand)))
  }

  /** One after the other: the end of one may release the next, which then need not give up. */
  *#giveUpAll(hand: LoadedJobs): Steps<void> {
    const ids = yield* overdue(hand.session, hand.now)
    const waiters = yield* hand.edges.read(ids)
    yield* this.#endings.readWaiters(hand, [...ids, ...waiters])
    const awaited = new Map<string, Edge[]>(ids.map((id) => [id, []]))
    for (const edge of yield* hand.edges.awaitedBy(ids)) awaited.get(edge.waiter)?.push(edge)
    for (const [id, edges] of awaited) {
      endOne(
        hand,
        id,
        edges.filter((edge) => hand.edges.isStillAwaited(edge)),
      )
      while (hand.hasUntold) yield* this.#endings.tell(hand)
    }
  }
}

function* overdue(session: SqlSession, now: number): Steps<readonly string[]> {
  const rows = yield* wait(
    session.all<{ id: string }>(`SELECT id FROM {links} WHERE gives_up_at <= ? ORDER BY gives_up_at, id LIMIT ${mostImpatient}`, [
      now,
    ]),
  )
  return rows.map(({ id }) => id)
}

function endOne(hand: LoadedJobs, id: string, awaited: readonly Edge[]): void {
  const row = hand.get(id)
  if (row?.state !== stateNumber.blocked) {
    // It is not waiting, and would otherwise be found here forever.
    hand.waiters.change(id, { gives_up_at: null, ending: null })
    return
  }
  const links = awaited.map((edge) => linkOf(edge, null))
  const longestMs = hand.waiters.get(id)?.longest_wait_ms ?? 0
  endFor(hand, row, { isSkipped: false, why: impatienceText(links, links.length, longestMs) })
}
