import { impatienceText } from '../waiting.ts'
import { type Edge, linkOf } from './edges.ts'
import type { Endings } from './endings.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import type { QueueTime } from './queue-time.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { stateNumber } from './tables.ts'
import type { Transactions } from './transactions.ts'
import { endFor } from './waiting-jobs.ts'

/** So many jobs that have waited for too long are ended by one call. */
const mostImpatient = 1_000

/** Ends jobs that have waited for others for too long. */
export class Impatience {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions
  readonly #endings: Endings

  constructor(database: SqlDatabase, transactions: Transactions, endings: Endings) {
    this.#database = database
    this.#transactions = transactions
    this.#endings = endings
  }

  async giveUp(time: QueueTime): Promise<void> {
    // Nobody is kept waiting where there is nothing to end.
    if ((await overdue(this.#database, time.now())).length === 0) return
    await this.#transactions.alone(time, async (hand) => {
      const ids = await overdue(hand.session, hand.now)
      await this.#endings.readWaiters(hand, ids)
      await endAll(hand, ids)
    })
  }
}

async function overdue(session: SqlSession, now: number): Promise<readonly string[]> {
  const rows = await session.all<{ id: string }>(
    `SELECT id FROM {links} WHERE gives_up_at <= ? ORDER BY gives_up_at LIMIT ${mostImpatient}`,
    [now],
  )
  return rows.map(({ id }) => id)
}

async function endAll(hand: JobsInHand, ids: readonly string[]): Promise<void> {
  const awaited = new Map<string, Edge[]>(ids.map((id) => [id, []]))
  for (const edge of await hand.edges.awaitedBy(ids)) awaited.get(edge.waiter)?.push(edge)
  for (const [id, edges] of awaited) {
    const row = hand.get(id)
    if (row?.state !== stateNumber.blocked) {
      // It does not wait, and would be found here for ever.
      hand.waiters.change(id, { gives_up_at: null, ending: null })
      continue
    }
    const links = edges.map((edge) => linkOf(edge, null))
    const longestMs = hand.waiters.get(id)?.longest_wait_ms ?? 0
    endFor(hand, row, { isSkipped: false, why: impatienceText(links, links.length, longestMs) })
  }
}
