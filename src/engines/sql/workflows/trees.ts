import { type Steps, wait } from '../../../core/answer.ts'
import { type JobState, jobStates, zeroCounts } from '../../../queue/contract/job-state.ts'
import type { Cancellation, JobCount, JobLink } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { unresulted } from '../rows/job-row.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { cancelledAt } from '../settling/settling.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { type Edge, edgeColumns, linkOf } from './edges.ts'

/** All jobs of a workflow together. */
export class Trees {
  readonly #database: SqlDatabase
  readonly #transactions: Transactions

  constructor(database: SqlDatabase, transactions: Transactions) {
    this.#database = database
    this.#transactions = transactions
  }

  *links(id: string): Steps<readonly JobLink[]> {
    if (!isJobId(id)) return []
    const columns = edgeColumns.map((column) => `edges.${column}`).join(', ')
    const edges = yield* wait(
      this.#database.all<Edge & { state: number | null }>(
        `SELECT ${columns}, jobs.state FROM {edges} AS edges LEFT JOIN {jobs} AS jobs ON jobs.id = edges.target
       WHERE edges.waiter = ? ORDER BY edges.edge`,
        [id],
      ),
    )
    const links = edges.map((edge) => linkOf(edge, edge.state))
    return [...links.filter(({ kind }) => kind === 'dependency'), ...links.filter(({ kind }) => kind === 'child')]
  }

  /** One query, so that no job is counted twice while it is being deleted. */
  *counts(root: string): Steps<JobCount> {
    const rows = yield* wait(
      this.#database.all<{ state: number; jobs: number }>(
        `SELECT jobs.state, COUNT(*) AS jobs FROM {links} AS links JOIN {jobs} AS jobs ON jobs.id = links.id
       WHERE links.root = ? GROUP BY jobs.state
       UNION ALL SELECT state, jobs FROM {gone} WHERE root = ?`,
        [root, root],
      ),
    )
    const counts = zeroCounts()
    for (const { state, jobs } of rows) counts[jobStates[state] as JobState] += jobs
    return { queue: '', job: '', counts }
  }

  /** All of them end before any is notified, so that none ends because of another. */
  *cancel(id: string, time: QueueTime): Steps<Cancellation> {
    return yield* wait(this.#transactions.alone(time, (hand) => cancelFamily(hand, id)))
  }
}

function* cancelFamily(hand: LoadedJobs, id: string): Steps<Cancellation> {
  const rows = yield* hand.lock(yield* familyOf(hand, id))
  const running = rows.filter(({ state }) => state === stateNumber.running)
  const waiting = rows.filter(({ state }) => state < stateNumber.running)
  for (const row of running) hand.change(row.id, { cancel: 1 })
  for (const row of waiting) hand.change(row.id, { ...cancelledAt(hand.now), ...unresulted })
  const ended = rows.length - running.length - waiting.length
  return { cancelled: waiting.length, requested: running.length, ended }
}

/** A job with everything it created and everything that waits for it, or all jobs of the workflow with this id. */
function* familyOf(hand: LoadedJobs, id: string): Steps<readonly string[]> {
  const { session } = hand
  const [first] = isJobId(id) ? yield* hand.lock([id]) : []
  if (first === undefined) {
    const members = yield* wait(session.all<{ id: string }>('SELECT id FROM {links} WHERE root = ?', [id]))
    return members.map((member) => member.id)
  }
  const family = new Set([id])
  for (let last: readonly string[] = [id]; last.length > 0; ) {
    last = (yield* relativesOf(session, last)).filter((relative) => !family.has(relative))
    for (const relative of last) family.add(relative)
  }
  return [...family]
}

function* relativesOf(session: SqlSession, ids: readonly string[]): Steps<readonly string[]> {
  const rows = yield* wait(
    session.all<{ id: string }>(
      `SELECT target AS id FROM {edges} WHERE waiter IN (?) AND child_key IS NOT NULL
     UNION SELECT waiter AS id FROM {edges} WHERE target IN (?) AND outcome IS NULL AND child_key IS NULL`,
      [ids, ids],
    ),
  )
  return rows.map(({ id }) => id)
}
