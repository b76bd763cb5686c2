import { type Steps, wait } from '../../../core/answer.ts'
import type { Neighbours, OccurrenceKey } from '../../../queue/contract/schedule-store.ts'
import type { SqlDatabase } from '../session.ts'

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
