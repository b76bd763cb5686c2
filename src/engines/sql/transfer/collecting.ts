import { type Steps, wait } from '../../../core/answer.ts'
import type { PageRequest } from '../../../queue/contract/transfer.ts'
import { isJobId } from '../rows/lease-token.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession, SqlValue } from '../session.ts'

/** A job that may be taken, as seen without a lock. */
export interface Candidate {
  readonly id: string
  readonly linked: number
  /** Approximate number of characters that it carries. */
  readonly size: number
}

export interface Candidates {
  readonly plain: readonly string[]
  readonly linked: readonly string[]
  /** The last id that was considered; null if nothing follows. */
  readonly last: string | null
}

/** Limits how much of large jobs is in memory at once. */
const mostCharacters = 4_000_000

const firstId = '00000000-0000-0000-0000-000000000000'

/** Jobs that are not running, in order of their ids. Running jobs are skipped: the next pass finds them again. */
export function* candidates(session: SqlSession, request: PageRequest, after: string): Steps<Candidates> {
  const { queue, createdBefore, limit } = request
  const values: SqlValue[] = [after === '' ? firstId : after, createdBefore]
  const isOfQueue = queue === null ? '' : 'AND {jobs}.lane IN (SELECT lanes.lane FROM {lanes} AS lanes WHERE lanes.queue = ?)'
  if (queue !== null) values.push(queue)
  const rows = yield* wait(
    session.all<Candidate>(
      `SELECT {jobs}.id, {jobs}.linked, LENGTH({jobs}.payload) + COALESCE(LENGTH({jobs}.result), 0)
         + COALESCE((SELECT SUM(logs.bytes) FROM {logs} AS logs WHERE logs.job_id = {jobs}.id), 0) AS size
       FROM {jobs by PRIMARY} WHERE {jobs}.id > ? AND {jobs}.state + 0 <> ${stateNumber.running} AND {jobs}.created_at <= ? ${isOfQueue}
       ORDER BY {jobs}.id LIMIT ?`,
      [...values, limit],
    ),
  )
  const taken = upTo(rows)
  const isLast = taken.length === rows.length && rows.length < limit
  const ids = (linked: number) => taken.filter((row) => row.linked === linked).map(({ id }) => id)
  return { plain: ids(0), linked: ids(1), last: isLast ? null : (taken.at(-1)?.id ?? null) }
}

/** Always includes at least one, however large. */
function upTo(rows: readonly Candidate[]): readonly Candidate[] {
  let characters = 0
  const end = rows.findIndex(({ size }, index) => {
    characters += Number(size)
    return index > 0 && characters > mostCharacters
  })
  return end < 0 ? rows : rows.slice(0, end)
}

/**
 * The jobs linked to each of these, by workflow or because one waits for another that has not ended, as sets of ids. Call this
 * only while holding the links mutex.
 */
export function* components(session: SqlSession, ids: readonly string[]): Steps<readonly (readonly string[])[]> {
  const sets: string[][] = []
  const seen = new Set<string>()
  for (const id of ids) {
    if (seen.has(id)) continue
    const members = yield* componentOf(session, id)
    for (const member of members) seen.add(member)
    sets.push([...members])
  }
  return sets
}

function* componentOf(session: SqlSession, id: string): Steps<ReadonlySet<string>> {
  const members = new Set([id])
  const roots = new Set<string>()
  for (let last: readonly string[] = [id]; last.length > 0; ) {
    const found = [...(yield* sameRoot(session, last, roots)), ...(yield* tiedTo(session, last))]
    last = [...new Set(found)].filter((each) => !members.has(each))
    for (const each of last) members.add(each)
  }
  return members
}

function* sameRoot(session: SqlSession, ids: readonly string[], known: Set<string>): Steps<readonly string[]> {
  const places = yield* wait(session.all<{ root: string }>('SELECT DISTINCT root FROM {links} WHERE id IN (?)', [ids]))
  const roots = places.map(({ root }) => root).filter((root) => !known.has(root))
  if (roots.length === 0) return []
  for (const root of roots) known.add(root)
  return (yield* wait(session.all<{ id: string }>('SELECT id FROM {links} WHERE root IN (?)', [roots]))).map(({ id }) => id)
}

function* tiedTo(session: SqlSession, ids: readonly string[]): Steps<readonly string[]> {
  const rows = yield* wait(
    session.all<{ id: string }>(
      `SELECT target AS id FROM {edges} WHERE waiter IN (?) AND outcome IS NULL
       UNION SELECT waiter AS id FROM {edges} WHERE target IN (?) AND outcome IS NULL`,
      [ids, ids],
    ),
  )
  return rows.map(({ id }) => id).filter(isJobId)
}
