import { type Steps, wait } from '../../../core/answer.ts'
import { type End, isSuccess } from '../../../queue/workflows/waiting.ts'
import { unresulted } from '../rows/job-row.ts'
import type { SqlSession } from '../session.ts'
import { type Edge, edgeColumns, linkOf, type NewEdge, newEdgeColumns, outcomeNumber } from './edges.ts'

const select = `SELECT ${edgeColumns.join(', ')} FROM {edges}`

/**
 * Jobs that wait for these, directly or through others, up to a number of steps. The edges are read by a separate statement: in a
 * single one, an engine may scan all edges.
 */
const onward = `WITH RECURSIVE reached (id, step) AS (
    SELECT waiter, 1 FROM {edges} WHERE target IN (?) AND outcome IS NULL
    UNION
    SELECT edges.waiter, reached.step + 1 FROM reached JOIN {edges} AS edges ON edges.target = reached.id
    WHERE edges.outcome IS NULL AND reached.step < ?
  ) SELECT DISTINCT id FROM reached`

const mostSteps = 64

/** The edges that one transaction reads and changes: read once, and written together at its end. */
export class LoadedEdges {
  readonly #session: SqlSession
  readonly #known = new Map<number, Edge>()
  readonly #byTarget = new Map<string, number[]>()
  readonly #rescues = new Map<string, number[]>()
  readonly #detached = new Set<string>()
  readonly #changed = new Set<number>()
  readonly #dropped: number[] = []
  #steps = 0

  constructor(session: SqlSession) {
    this.#session = session
  }

  /**
   * Reads the edges to these jobs that have no outcome yet. Ends propagate from job to job, so each read looks more steps ahead
   * than the one before. Returns all waiting jobs of the edges that it read.
   */
  *read(targets: readonly string[]): Steps<readonly string[]> {
    const missing = targets.filter((id) => !this.#byTarget.has(id))
    if (missing.length === 0) return []
    const reached = [...missing, ...(yield* this.#onwardFrom(missing))].filter((id) => !this.#byTarget.has(id))
    for (const id of reached) this.#byTarget.set(id, [])
    const all = `${select} WHERE target IN (?) AND outcome IS NULL ORDER BY edge`
    const rows = this.#take(yield* wait(this.#session.all<Edge>(all, [[...new Set(reached)]])))
    for (const { edge, target } of rows) this.#byTarget.get(target)?.push(edge)
    return rows.filter(({ waiting }) => waiting === 1).map(({ waiter }) => waiter)
  }

  /** The edges to a target that was read, in order of creation. */
  on(target: string): readonly Edge[] {
    return (this.#byTarget.get(target) ?? []).map((edge) => this.#get(edge))
  }

  /** Everything that these jobs wait for or have waited for, in order of creation. */
  *of(waiters: readonly string[]): Steps<readonly Edge[]> {
    if (waiters.length === 0) return []
    return this.#take(yield* wait(this.#session.all<Edge>(`${select} WHERE waiter IN (?) ORDER BY edge`, [waiters])))
  }

  /** What these jobs still wait for, in order of creation. */
  *awaitedBy(waiters: readonly string[]): Steps<readonly Edge[]> {
    if (waiters.length === 0) return []
    const rows = yield* wait(this.#session.all<Edge>(`${select} WHERE waiter IN (?) AND waiting = 1 ORDER BY edge`, [waiters]))
    return this.#take(rows).filter((edge) => this.isAwaited(edge))
  }

  /** The children of these parents under these keys. */
  *children(waiters: readonly string[], keys: readonly string[]): Steps<readonly Edge[]> {
    if (waiters.length === 0) return []
    return yield* wait(this.#session.all<Edge>(`${select} WHERE waiter IN (?) AND child_key IN (?)`, [waiters, keys]))
  }

  /** Reads which jobs these jobs stand in for. */
  *readRescues(waiters: readonly string[]): Steps<void> {
    const missing = waiters.filter((id) => !this.#rescues.has(id))
    if (missing.length === 0) return
    for (const id of missing) this.#rescues.set(id, [])
    const rows = yield* wait(this.#session.all<Edge>(`${select} WHERE waiter IN (?) AND policy = 'rescue'`, [missing]))
    for (const { edge, waiter } of this.#take(rows)) this.#rescues.get(waiter)?.push(edge)
  }

  /** Whether there are jobs that it stands in for, and all of them succeeded. Call `readRescues` first. */
  hasNothingToRescue(waiter: string): boolean {
    const rescues = (this.#rescues.get(waiter) ?? []).map((edge) => linkOf(this.#get(edge), null))
    return rescues.length > 0 && rescues.every(({ state, result }) => isSuccess({ state: state as End['state'], result }))
  }

  isAwaited({ waiting, waiter }: Edge): boolean {
    return waiting === 1 && !this.#detached.has(waiter)
  }

  /** The same for an edge that may have changed since it was read. */
  isStillAwaited({ edge }: Edge): boolean {
    return this.isAwaited(this.#get(edge))
  }

  /** Written at once, so that later reads of edges find them. */
  *add(edges: readonly NewEdge[]): Steps<void> {
    yield* wait(
      this.#session.insert(
        'edges',
        newEdgeColumns,
        edges.map((edge) => ({ ...edge })),
      ),
    )
  }

  end(edge: Edge, end: End): Edge {
    const { result, seal, error } = end
    return this.#change({ ...edge, outcome: outcomeNumber(end), result, seal, error, waiting: 0 })
  }

  reopen(edge: Edge): void {
    this.#change({ ...edge, outcome: null, ...unresulted, error: null, waiting: 1 })
  }

  drop({ edge }: Edge): void {
    this.#changed.delete(edge)
    this.#dropped.push(edge)
  }

  /** The job no longer waits for its remaining edges. */
  detach(waiter: string): void {
    this.#detached.add(waiter)
  }

  *write(): Steps<void> {
    const session = this.#session
    if (this.#detached.size > 0) {
      yield* wait(session.run('UPDATE {edges} SET waiting = 0 WHERE waiter IN (?) AND waiting = 1', [[...this.#detached]]))
    }
    yield* writeEnds(
      session,
      [...this.#changed].map((edge) => this.#get(edge)),
    )
    if (this.#dropped.length > 0) yield* wait(session.run('DELETE FROM {edges} WHERE edge IN (?)', [this.#dropped]))
  }

  *#onwardFrom(targets: readonly string[]): Steps<readonly string[]> {
    const steps = this.#steps
    this.#steps = Math.max(1, Math.min(steps * 2, mostSteps))
    if (steps === 0) return []
    const rows = yield* wait(this.#session.all<{ id: string }>(onward, [targets, steps]))
    return rows.map(({ id }) => id)
  }

  /** Edges that were read before may have been changed since, so those are kept. */
  #take(rows: readonly Edge[]): readonly Edge[] {
    for (const row of rows) if (!this.#known.has(row.edge)) this.#known.set(row.edge, row)
    return rows.map(({ edge }) => this.#get(edge))
  }

  #get(edge: number): Edge {
    return this.#known.get(edge) as Edge
  }

  #change(edge: Edge): Edge {
    this.#known.set(edge.edge, edge)
    this.#changed.add(edge.edge)
    return edge
  }
}

/** Up to this many characters may be sent repeatedly instead of in a separate statement. */
const mostRepeated = 20_000

/** Edges with the same outcome are written together if what they share is large. */
function* writeEnds(session: SqlSession, edges: readonly Edge[]): Steps<void> {
  const alike = new Map<string, Edge[]>()
  for (const edge of edges) {
    const key = JSON.stringify([edge.outcome, edge.result, edge.seal, edge.error, edge.waiting])
    const together = alike.get(key)
    if (together === undefined) alike.set(key, [edge])
    else together.push(edge)
  }
  const each: Edge[] = []
  for (const [key, together] of alike) {
    if (key.length * (together.length - 1) <= mostRepeated) each.push(...together)
    else yield* writeSame(session, together)
  }
  const rows = each.map(({ edge, outcome, result, seal, error, waiting }) => ({ edge, outcome, result, seal, error, waiting }))
  yield* wait(session.update('edges', ['edge'], ['outcome', 'result', 'seal', 'error', 'waiting'], rows))
}

function* writeSame(session: SqlSession, edges: readonly Edge[]): Steps<void> {
  const { outcome, result, seal, error, waiting } = edges[0] as Edge
  yield* wait(
    session.run('UPDATE {edges} SET outcome = ?, result = ?, seal = ?, error = ?, waiting = ? WHERE edge IN (?)', [
      outcome,
      result,
      seal,
      error,
      waiting,
      edges.map(({ edge }) => edge),
    ]),
  )
}
