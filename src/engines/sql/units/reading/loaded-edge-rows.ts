import { type Steps, wait } from '../../../../core/answer.ts'
import type { SqlSession } from '../../session.ts'
import { type Edge, edgeColumns } from '../../workflows/edges.ts'

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

/** Maximum number of steps that one statement looks ahead. */
const stepsPerQuery = 64
/** With this many jobs read ahead, those beyond them are not. */
const mostAhead = 20_000

type Kind = 'edgesTo' | 'edgesOf' | 'awaited' | 'rescues' | 'child'

/** The edges that one transaction has read, by what they were read for. */
export class LoadedEdgeRows {
  readonly #session: SqlSession
  readonly #lists = new Map<string, Edge[]>()
  readonly #awaited = new Set<string>()
  #stepsAhead = 0

  constructor(session: SqlSession) {
    this.#session = session
  }

  /** In order of creation; undefined if they were not read. */
  list(kind: Kind, name: string): readonly Edge[] | undefined {
    return this.#lists.get(`${kind}\n${name}`)
  }

  /**
   * Reads the open edges to these jobs. Ends propagate from job to job, so each call looks twice as many steps ahead as the one
   * before: then the rules run a few times, however long a chain is.
   */
  *loadTo(targets: readonly string[], lock: (waiters: readonly string[]) => Steps<void>): Steps<void> {
    if (targets.length === 0) return
    let frontier = targets
    let ahead = 0
    for (let left = this.#stepsAhead; frontier.length > 0; ) {
      const steps = Math.min(left, stepsPerQuery)
      const reached = [...frontier, ...(yield* this.#onwardFrom(frontier, steps))]
      const edges = yield* this.#read('edgesTo', reached, ({ target }) => target, 'WHERE target IN (?) AND outcome IS NULL')
      const waiters = [...new Set(edges.filter(({ waiting }) => waiting === 1).map(({ waiter }) => waiter))]
      yield* lock(waiters)
      ahead += waiters.length
      left -= steps
      if (left <= 0 || ahead > mostAhead) break
      frontier = waiters.filter((id) => this.list('edgesTo', id) === undefined)
    }
    this.#stepsAhead = Math.max(1, 2 * this.#stepsAhead)
  }

  /** Returns the jobs that they lead to. */
  *loadOf(waiters: readonly string[]): Steps<readonly string[]> {
    const edges = yield* this.#read('edgesOf', waiters, ({ waiter }) => waiter, 'WHERE waiter IN (?)')
    return edges.map(({ target }) => target)
  }

  *loadAwaited(waiters: readonly string[]): Steps<void> {
    const edges = yield* this.#read('awaited', waiters, ({ waiter }) => waiter, 'WHERE waiter IN (?) AND waiting = 1')
    for (const { target } of edges) this.#awaited.add(target)
  }

  /** If one of these jobs is awaited by a job whose edges were read: all jobs that are. */
  targetsBeside(ids: readonly string[]): readonly string[] {
    return ids.some((id) => this.#awaited.has(id)) ? [...this.#awaited] : []
  }

  *loadRescues(waiters: readonly string[]): Steps<void> {
    yield* this.#read('rescues', waiters, ({ waiter }) => waiter, `WHERE waiter IN (?) AND policy = 'rescue'`)
  }

  /** `names` are those of `childNeed`. */
  *loadChildren(names: readonly string[]): Steps<void> {
    if (names.length === 0) return
    const [parents, keys] = [0, 1].map((part) => [...new Set(names.map((name) => name.split('\n')[part] as string))])
    const condition = 'WHERE waiter IN (?) AND child_key IN (?)'
    yield* this.#read('child', names, ({ waiter, child_key }) => `${waiter}\n${child_key}`, condition, [
      parents ?? [],
      keys ?? [],
    ])
  }

  *#read(
    kind: Kind,
    names: readonly string[],
    nameOf: (edge: Edge) => string,
    condition: string,
    values: readonly (readonly string[])[] = [[...new Set(names)]],
  ): Steps<readonly Edge[]> {
    if (names.length === 0) return []
    const edges = yield* wait(this.#session.all<Edge>(`${select} ${condition} ORDER BY edge`, values))
    const lists = new Map<string, Edge[]>(names.map((name) => [name, []]))
    for (const edge of edges) lists.get(nameOf(edge))?.push(edge)
    for (const [name, list] of lists) if (this.list(kind, name) === undefined) this.#lists.set(`${kind}\n${name}`, list)
    return edges
  }

  *#onwardFrom(targets: readonly string[], steps: number): Steps<readonly string[]> {
    if (steps === 0) return []
    const rows = yield* wait(this.#session.all<{ id: string }>(onward, [targets, steps]))
    return rows.map(({ id }) => id).filter((id) => this.list('edgesTo', id) === undefined)
  }
}
