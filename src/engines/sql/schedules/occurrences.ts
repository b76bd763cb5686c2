import { type Steps, wait } from '../../../core/answer.ts'
import type { Neighbours, OccurrenceKey, OccurrenceQuery, OccurrenceRecord } from '../../../queue/contract/schedule-store.ts'
import { recordOf } from '../rows/schedule-record.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import { numberedName } from '../units/reading/needs.ts'
import { occurrencesNamed, occurrencesWhere } from '../units/reading/occurrence-readers.ts'

export function* readOccurrences(session: SqlSession, query: OccurrenceQuery): Steps<readonly (OccurrenceRecord | null)[]> {
  if ('keys' in query) {
    const names = query.keys.map(({ schedule, at }) => numberedName(at, schedule))
    const found = new Map(yield* occurrencesNamed(session, names))
    return names.map((name) => recordOf(found.get(name)))
  }
  const { schedule, upTo, limit } = query
  const where = 'found.schedule = ? AND found.at <= ? ORDER BY found.at DESC LIMIT ?'
  return (yield* occurrencesWhere(session, where, [schedule, upTo, limit])).flatMap((row) => recordOf(row) ?? [])
}

/** Ended occurrences from before this instant, but never the last one of a schedule that has ended. */
export function* forgetOccurrences(database: SqlDatabase, before: number, limit: number): Steps<number> {
  yield* forgetRemoved(database, before)
  const rows = yield* wait(
    database.all<{ job_id: string }>(
      `SELECT job_id FROM {occurrences} AS old WHERE old.at < ? AND old.outcome IS NOT NULL
       AND EXISTS (SELECT 1 FROM {occurrences} AS later
         WHERE later.schedule = old.schedule AND later.at > old.at AND later.outcome IS NOT NULL)
     ORDER BY old.at LIMIT ?`,
      [before, limit],
    ),
  )
  if (rows.length === 0) return 0
  const ids = rows.map(({ job_id }) => job_id)
  // A job that was put back in the meantime has no longer ended.
  return yield* wait(database.run('DELETE FROM {occurrences} WHERE job_id IN (?) AND outcome IS NOT NULL', [ids]))
}

/** Forgets that schedules were removed. Usually there is nothing to do, so it first looks without a lock. */
function* forgetRemoved(database: SqlDatabase, before: number): Steps<void> {
  const rows = yield* wait(
    database.all<{ name: string }>('SELECT name FROM {removed_schedules} WHERE removed_at < ? LIMIT 1000', [before]),
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name)
  yield* wait(database.run('DELETE FROM {removed_schedules} WHERE name IN (?) AND removed_at < ?', [names, before]))
}

/** Waiting occurrences start in order. One that has started behind this many that have not is not looked for. */
const mostWaiting = 100

/**
 * What `neighbours` of the rules answers, without loading what is unended: a worker asks before each run of a schedule, and any
 * number of runs may be waiting.
 */
export function* neighboursOf(database: SqlDatabase, { schedule, at }: OccurrenceKey, now: number): Steps<Neighbours> {
  const [row] = yield* wait(
    database.all<{ unended: number | null; seen: number }>(
      `SELECT (SELECT MIN(earlier.at) FROM (
         SELECT at, job_id FROM {occurrences} WHERE schedule = ? AND outcome IS NULL AND at < ? ORDER BY at LIMIT ${mostWaiting}
       ) AS earlier JOIN {jobs} AS jobs ON jobs.id = earlier.job_id WHERE jobs.started_at IS NOT NULL) AS unended,
       CASE WHEN EXISTS (SELECT 1 FROM {occurrences} AS coming WHERE coming.schedule = ? AND coming.at > ?)
         OR EXISTS (SELECT 1 FROM {occurrences} AS later WHERE later.schedule = ? AND later.at >= ? AND later.stored_at >= ?)
       THEN 1 ELSE 0 END AS seen`,
      [schedule, at, schedule, now, schedule, at, at],
    ),
  )
  return { unended: row?.unended ?? null, seen: row?.seen === 1 }
}
