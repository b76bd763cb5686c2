import { type Steps, wait } from '../../../core/answer.ts'
import type { PageRequest } from '../../../queue/contract/transfer.ts'
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
         + COALESCE((SELECT ${session.dialect.wholeNumber(session.dialect.sumOf('logs.bytes'))} FROM {logs} AS logs WHERE logs.job_id = {jobs}.id), 0) AS size
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
