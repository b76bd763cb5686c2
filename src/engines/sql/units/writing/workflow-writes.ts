import { type Steps, wait } from '../../../../core/answer.ts'
import type { StoredEdge, StoredLinks } from '../../../../queue/rules/workflows/links.ts'
import { type Changes, writeChanges } from '../../rows/row-changes.ts'
import type { SqlRow, SqlSession } from '../../session.ts'
import { edgeColumns, newEdge, newEdgeColumns, outcomeNumber } from '../../workflows/edges.ts'
import { placeColumns, type WorkflowPlace } from '../../workflows/places.ts'
import { LoadedEdgeList, type LoadedPlace } from '../loaded/loaded-links.ts'
import type { LoadedQueue } from '../loaded/loaded-queue.ts'

/** The places of jobs in workflows. Those of deleted jobs are deleted with them. */
export function* writePlaces(queue: LoadedQueue): Steps<void> {
  const { session } = queue.rows
  const added: SqlRow[] = []
  const changes: Changes = new Map()
  for (const [id, loaded] of queue.places) {
    const job = queue.byId.get(id)
    if (job === undefined) continue
    const { place, links } = loaded
    const mayGiveUp = job.state === 'blocked' && Number.isFinite(links.givesUpAt)
    const columns = changeable(loaded, mayGiveUp ? links.givesUpAt : null)
    if (place === null)
      added.push({ id, root: links.root, parent: links.parent, longest_wait_ms: links.longestWaitMs, ...columns })
    else if (changeableNames.some((column) => columns[column] !== place[column])) {
      const differing = changeableNames.filter((column) => columns[column] !== place[column])
      changes.set(id, Object.fromEntries(differing.map((column) => [column, columns[column]])))
    }
  }
  yield* wait(session.insert('links', placeColumns, added))
  yield* writeChanges(session, 'links', changes)
}

const changeableNames = ['pending', 'gives_up_at', 'doom', 'ending', 'stands_in'] as const

type Changeable = Pick<WorkflowPlace, (typeof changeableNames)[number]>

function changeable({ place, links, doom, ending }: LoadedPlace, gives_up_at: number | null): Changeable {
  return {
    pending: links.pending,
    gives_up_at,
    doom: links.doom === doom ? (place?.doom ?? null) : jsonOf(links.doom),
    ending: links.ending === ending ? (place?.ending ?? null) : jsonOf(links.ending),
    stands_in: hasNewRescues(links) ? 1 : (place?.stands_in ?? 0),
  }
}

function hasNewRescues({ edges }: StoredLinks): boolean {
  return edges instanceof LoadedEdgeList && edges.hasNewRescues
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

export function* writeEdges({ rows: { session }, edges, byId, loaded }: LoadedQueue): Steps<void> {
  const isDeleted = (id: string) => loaded.has(id) && byId.get(id) === undefined
  const { detached, dropped } = edges
  if (detached.size > 0) {
    yield* wait(session.run('UPDATE {edges} SET waiting = 0 WHERE waiter IN (?) AND waiting = 1', [[...detached]]))
  }
  const changed = [...edges.loaded].flatMap(({ row, edge }) => {
    const isGone = dropped.has(row.edge) || isDeleted(edge.waiterId)
    const after = { edge: row.edge, ...endColumns(edge) }
    return isGone || endNames.every((column) => after[column] === row[column]) ? [] : [after]
  })
  yield* writeEnds(session, changed)
  if (dropped.size > 0) yield* wait(session.run('DELETE FROM {edges} WHERE edge IN (?)', [[...dropped]]))
  yield* insertEdges(
    session,
    [...edges.added].filter(({ waiterId }) => byId.get(waiterId) !== undefined),
  )
}

/** Most new edges lead to jobs that have not ended. */
function* insertEdges(session: SqlSession, added: readonly StoredEdge[]): Steps<void> {
  const isEnded = added.some(({ end, waiting }) => end !== null || !waiting)
  const columns = isEnded ? edgeColumns.filter((column) => column !== 'edge') : newEdgeColumns
  const rows = added.map((edge) => (isEnded ? { ...newEdge(edge), ...endColumns(edge) } : { ...newEdge(edge) }))
  yield* wait(session.insert('edges', columns, rows))
}

interface EndColumns {
  readonly outcome: number | null
  readonly result: string | null
  readonly seal: string | null
  readonly error: string | null
  readonly waiting: number
}

const endNames = ['outcome', 'result', 'seal', 'error', 'waiting'] as const

function endColumns({ end, waiting }: StoredEdge): EndColumns {
  const { result = null, seal = null, error = null } = end ?? {}
  return { outcome: end === null ? null : outcomeNumber(end), result, seal, error, waiting: +waiting }
}

type EndedEdge = EndColumns & { readonly edge: number }

/** Up to this many characters may be sent repeatedly instead of in a separate statement. */
const mostRepeated = 20_000

/** Edges with the same outcome are written together if what they share is large. */
function* writeEnds(session: SqlSession, edges: readonly EndedEdge[]): Steps<void> {
  const alike = new Map<string, EndedEdge[]>()
  for (const edge of edges) {
    const key = JSON.stringify([edge.outcome, edge.result, edge.seal, edge.error, edge.waiting])
    const together = alike.get(key)
    if (together === undefined) alike.set(key, [edge])
    else together.push(edge)
  }
  const each: EndedEdge[] = []
  for (const [key, together] of alike) {
    if (key.length * (together.length - 1) <= mostRepeated) each.push(...together)
    else yield* writeSame(session, together)
  }
  yield* wait(
    session.update(
      'edges',
      ['edge'],
      endNames,
      each.map((edge) => ({ ...edge })),
    ),
  )
}

function* writeSame(session: SqlSession, edges: readonly EndedEdge[]): Steps<void> {
  const { outcome, result, seal, error, waiting } = edges[0] as EndedEdge
  yield* wait(
    session.run('UPDATE {edges} SET outcome = ?, result = ?, seal = ?, error = ?, waiting = ? WHERE edge IN (?)', [
      ...[outcome, result, seal, error, waiting],
      edges.map(({ edge }) => edge),
    ]),
  )
}
