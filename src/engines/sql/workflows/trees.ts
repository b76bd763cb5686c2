import { type Steps, wait } from '../../../core/answer.ts'
import { type JobState, jobStates, zeroCounts } from '../../../queue/contract/job-state.ts'
import type { Cancellation, JobCount, JobLink } from '../../../queue/contract/store.ts'
import { inLinkOrder, linkOf } from '../../../queue/rules/workflows/links.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { isJobId } from '../rows/lease-token.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { needs } from '../units/reading/needs.ts'
import type { Unit, Units } from '../units/units.ts'
import { type Edge, edgeColumns, storedEdge } from './edges.ts'

/** All jobs of a workflow together. */
export class Trees {
  readonly #database: SqlDatabase
  readonly #units: Units

  constructor(database: SqlDatabase, units: Units) {
    this.#database = database
    this.#units = units
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
    return inLinkOrder(
      edges.map((edge) => linkOf(storedEdge(edge), () => (edge.state === null ? undefined : jobStates[edge.state]))),
    )
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

  *cancel(id: string, time: QueueTime): Steps<Cancellation> {
    const work = function* (unit: Unit) {
      const family = yield* familyOf(unit.session, id)
      return yield* unit.decide(family, (queue) => {
        const ids = family.filter((each) => queue.job(each) !== undefined)
        queue.want([...needs('edgesOf', ids), ...needs('edgesTo', ids)])
        return queue.rules.managing.cancel(id, { tree: true })
      })
    }
    return (yield* wait(this.#units.alone(time, work))).answer
  }
}

/** A job with everything it created and everything that waits for it, or all jobs of the workflow with this id. */
function* familyOf(session: SqlSession, id: string): Steps<readonly string[]> {
  const [first] = isJobId(id) ? yield* wait(session.all<{ id: string }>('SELECT id FROM {jobs} WHERE id = ?', [id])) : []
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
