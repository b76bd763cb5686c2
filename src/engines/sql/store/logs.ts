import { type Steps, wait } from '../../../core/answer.ts'
import { TreadleError } from '../../../core/errors.ts'
import type { SweepReport } from '../../../queue/contract/store.ts'
import {
  exceeds,
  extentWith,
  keptFrom,
  type LogBounds,
  type LogChunk,
  type LogExtent,
  type LogStore,
  placeChunk,
  type StoredLogChunk,
} from '../../../queue/contract/stores/log-store.ts'
import { isJobId } from '../rows/lease-token.ts'
import { type LogRow, logColumns, logRowOf } from '../rows/log-row.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Stepped } from '../stepped.ts'

/**
 * How often to retry lines whose numbers were taken at the same moment by another writer, such as one that has lost the job's
 * lease. Each failed try means that lines of another writer were stored, so this is only reached if very many keep writing.
 */
const mostTries = 1_000

/** What jobs have logged, one row per chunk of lines. */
export class Logs implements Stepped<LogStore> {
  readonly #database: SqlDatabase
  /** Where the last sweep ended; null at the start. */
  #sweptUpTo: string | null = null

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  *append(chunks: readonly LogChunk[], bounds: LogBounds): Steps<void> {
    let left: readonly LogChunk[] = chunks.filter(({ id, lines }) => isJobId(id) && lines > 0)
    for (let tries = 1; left.length > 0 && tries <= mostTries; tries++) {
      const meant = left
      left = yield* wait(this.#database.transaction((session) => this.#append(session, meant, bounds)))
    }
    if (left.length > 0)
      throw new TreadleError('DATABASE_BUSY', `Others have stored lines of the same jobs ${mostTries} times in a row`)
  }

  *read(id: string, after: number, limit: number): Steps<readonly StoredLogChunk[]> {
    if (!isJobId(id)) return []
    const rows = yield* wait(
      this.#database.all<Omit<LogRow, 'job_id' | 'bytes'>>(
        'SELECT first_line, last_line, attempt, body FROM {logs} WHERE job_id = ? AND last_line > ? ORDER BY first_line LIMIT ?',
        [id, after, limit],
      ),
    )
    return rows.map(({ first_line, last_line, attempt, body }) => ({ attempt, first: first_line, last: last_line, text: body }))
  }

  *sweep(limit: number): Steps<SweepReport> {
    const from = this.#sweptUpTo === null ? '' : 'WHERE job_id > ?'
    const rows = yield* wait(
      this.#database.all<{ job_id: string }>(`SELECT DISTINCT job_id FROM {logs} ${from} ORDER BY job_id LIMIT ?`, [
        ...(this.#sweptUpTo === null ? [] : [this.#sweptUpTo]),
        limit,
      ]),
    )
    const ids = rows.map(({ job_id }) => job_id)
    this.#sweptUpTo = ids.length < limit ? null : (ids.at(-1) ?? null)
    if (ids.length === 0) return { looked: 0, changed: 0 }
    const there = yield* wait(this.#database.all<{ id: string }>('SELECT id FROM {jobs} WHERE id IN (?)', [ids]))
    const known = new Set(there.map(({ id }) => id))
    const gone = ids.filter((id) => !known.has(id))
    if (gone.length > 0) yield* wait(this.#database.run('DELETE FROM {logs} WHERE job_id IN (?)', [gone]))
    return { looked: ids.length, changed: gone.length }
  }

  /** Returns the chunks whose numbers were taken in the meantime. */
  *#append(session: SqlSession, chunks: readonly LogChunk[], bounds: LogBounds): Steps<readonly LogChunk[]> {
    const extents = yield* extentsOf(session, [...new Set(chunks.map(({ id }) => id))])
    const rows: ReturnType<typeof logRowOf>[] = []
    for (const chunk of chunks) {
      const extent = extents.get(chunk.id)
      // The job has been deleted.
      if (extent === undefined) continue
      const placed = placeChunk(chunk, extent)
      extents.set(chunk.id, extentWith(extent, placed))
      rows.push(logRowOf(chunk.id, placed))
    }
    if (rows.length === 0) return []
    const written = yield* wait(session.insertNew('logs', logColumns, rows, 'job_id'))
    const large = [...extents].filter(([id, extent]) => written.has(id) && exceeds(extent, bounds))
    yield* drop(session, new Map(large), bounds)
    return chunks.filter(({ id }) => extents.has(id) && !written.has(id))
  }
}

/** The extents of the jobs that exist. */
function* extentsOf(session: SqlSession, ids: readonly string[]): Steps<Map<string, LogExtent>> {
  const { sumOf, wholeNumber } = session.dialect
  const lines = `${sumOf('logs.last_line')} - ${sumOf('logs.first_line')} + COUNT(logs.job_id)`
  const rows = yield* wait(
    session.all<{ id: string; last_line: number; total_lines: number; total_bytes: number }>(
      `SELECT {jobs}.id AS id, COALESCE(MAX(logs.last_line), 0) AS last_line,
         ${wholeNumber(lines)} AS total_lines,
         ${wholeNumber(sumOf('logs.bytes'))} AS total_bytes
       FROM {jobs} LEFT JOIN {logs} AS logs ON logs.job_id = {jobs}.id WHERE {jobs}.id IN (?) GROUP BY {jobs}.id`,
      [ids],
    ),
  )
  return new Map(rows.map((row) => [row.id, { last: row.last_line, lines: row.total_lines, bytes: row.total_bytes }]))
}

/** Drops the oldest lines of jobs that have too many. */
function* drop(session: SqlSession, large: ReadonlyMap<string, LogExtent>, bounds: LogBounds): Steps<void> {
  for (const [id, extent] of large) {
    const rows = yield* wait(
      session.all<Pick<LogRow, 'first_line' | 'last_line' | 'bytes'>>(
        'SELECT first_line, last_line, bytes FROM {logs} WHERE job_id = ? ORDER BY first_line',
        [id],
      ),
    )
    const chunks = rows.map(({ first_line, last_line, bytes }) => ({ first: first_line, last: last_line, bytes }))
    yield* wait(session.run('DELETE FROM {logs} WHERE job_id = ? AND first_line < ?', [id, keptFrom(chunks, extent, bounds)]))
  }
}
