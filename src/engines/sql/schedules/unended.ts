import { type Steps, wait } from '../../../core/answer.ts'
import type { Neighbours, OccurrenceKey, SkipRequest } from '../../../queue/contract/schedule-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession, SqlValue } from '../session.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import type { Unit, Units } from '../units/units.ts'

/** Waiting occurrences begin in order. One that has begun behind this many that have not is not looked for. */
const mostWaiting = 100

/** Occurrences whose jobs have not ended: how they relate to each other, and how to end those that should not run. */
export class Unended {
  readonly #database: SqlDatabase
  readonly #units: Units

  constructor(database: SqlDatabase, units: Units) {
    this.#database = database
    this.#units = units
  }

  *neighbours({ schedule, at }: OccurrenceKey, time: QueueTime): Steps<Neighbours> {
    const [row] = yield* wait(
      this.#database.all<{ unended: number | null; seen: number }>(
        `SELECT (SELECT MIN(earlier.at) FROM (
           SELECT at, job_id FROM {occurrences} WHERE schedule = ? AND outcome IS NULL AND at < ? ORDER BY at LIMIT ${mostWaiting}
         ) AS earlier JOIN {jobs} AS jobs ON jobs.id = earlier.job_id WHERE jobs.started_at IS NOT NULL) AS unended,
         CASE WHEN ${isSeen('?', '?')} THEN 1 ELSE 0 END AS seen`,
        [schedule, at, schedule, time.now(), schedule, at, at],
      ),
    )
    return { unended: row?.unended ?? null, seen: row?.seen === 1 }
  }

  /** As if they had been stored when they were due. */
  *markSeen(keys: readonly OccurrenceKey[], time: QueueTime): Steps<void> {
    const mark = 'UPDATE {occurrences} SET stored_at = ? WHERE schedule = ? AND at = ? AND at <= ? AND stored_at < at'
    for (const { schedule, at } of keys) {
      const now = time.now()
      yield* wait(this.#database.run(mark, [now, schedule, at, now]))
    }
  }

  *skipWaiting({ schedule, before, unseenOnly, why }: SkipRequest, time: QueueTime): Steps<number> {
    const isLate = 'unended.at < ? AND unended.stored_at < unended.at'
    const ids = unseenOnly
      ? yield* unbegun(this.#database, schedule, `${isLate} AND NOT ${isSeen('unended.schedule', 'unended.at')}`, [
          before,
          time.now(),
        ])
      : yield* unbegun(this.#database, schedule, isLate, [before])
    if (ids.length === 0) return 0
    return (yield* this.#units.run(ids, time, (queue) => skip(queue, ids, why))).answer
  }

  /** For a schedule that is being removed: nothing would run its remaining jobs. */
  *skipAll(unit: Unit, schedule: string, why: string): Steps<void> {
    const ids = yield* unbegun(unit.session, schedule)
    yield* unit.decide(ids, (queue) => skip(queue, ids, why))
  }
}

/** The waiting jobs of a schedule that were never claimed. */
function* unbegun(
  session: SqlSession,
  schedule: string,
  condition = '1 = 1',
  values: readonly SqlValue[] = [],
): Steps<readonly string[]> {
  const rows = yield* wait(
    session.all<{ job_id: string }>(
      `SELECT unended.job_id FROM {occurrences} AS unended JOIN {jobs} AS jobs ON jobs.id = unended.job_id
     WHERE unended.schedule = ? AND unended.outcome IS NULL AND jobs.state <= ${stateNumber.scheduled} AND jobs.started_at IS NULL
       AND ${condition}`,
      [schedule, ...values],
    ),
  )
  return rows.map(({ job_id }) => job_id)
}

function skip({ rules: { jobs }, now }: LoadedQueue, ids: readonly string[], why: string): number {
  const waiting = ids
    .flatMap((id) => jobs.get(id) ?? [])
    .filter(({ state, startedAt }) => (state === 'ready' || state === 'scheduled') && startedAt === null)
  for (const job of waiting) jobs.move(job, 'skipped', { reason: why, finishedAt: now })
  return waiting.length
}

/**
 * SQL for `Neighbours.seen`, for the occurrence of a schedule at an instant. Its parameters, in order: schedule, now, schedule,
 * instant, instant. Leave out those that are given as columns.
 */
function isSeen(schedule: string, at: string): string {
  return `(EXISTS (SELECT 1 FROM {occurrences} AS coming WHERE coming.schedule = ${schedule} AND coming.at > ?)
    OR EXISTS (SELECT 1 FROM {occurrences} AS later
      WHERE later.schedule = ${schedule} AND later.at >= ${at} AND later.stored_at >= ${at}))`
}
