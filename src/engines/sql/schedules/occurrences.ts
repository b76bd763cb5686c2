import { type Steps, wait } from '../../../core/answer.ts'
import type { OccurrenceKey, OccurrenceQuery, OccurrenceRecord } from '../../../queue/contract/schedule-store.ts'
import { type OccurrenceRow, occurrenceColumns, occurrenceOf } from '../rows/schedule-record.ts'
import type { SqlDatabase } from '../session.ts'

/**
 * Maximum number of keys per query. It searches all pairs of their schedules and instants, so their number is the square of this.
 */
const keysPerLook = 20

export function readOccurrences(database: SqlDatabase, query: OccurrenceQuery): Steps<readonly (OccurrenceRecord | null)[]> {
  return 'keys' in query ? find(database, query.keys) : recent(database, query.schedule, query.upTo, query.limit)
}

function* find(database: SqlDatabase, keys: readonly OccurrenceKey[]): Steps<readonly (OccurrenceRecord | null)[]> {
  const found = new Map<string, OccurrenceRecord>()
  const sorted = [...keys].sort((a, b) => (a.schedule < b.schedule ? -1 : 1))
  for (let first = 0; first < sorted.length; first += keysPerLook) {
    for (const record of yield* findAmong(database, sorted.slice(first, first + keysPerLook))) found.set(textOf(record), record)
  }
  return keys.map((key) => found.get(textOf(key)) ?? null)
}

function* recent(database: SqlDatabase, schedule: string, upTo: number, limit: number): Steps<readonly OccurrenceRecord[]> {
  const rows = yield* wait(
    database.all<OccurrenceRow>(
      `SELECT ${occurrenceColumns('recent')} FROM {occurrences} AS recent
     WHERE recent.schedule = ? AND recent.at <= ? ORDER BY recent.at DESC LIMIT ?`,
      [schedule, upTo, limit],
    ),
  )
  return rows.flatMap((row) => occurrenceOf(row) ?? [])
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

function* findAmong(database: SqlDatabase, keys: readonly OccurrenceKey[]): Steps<readonly OccurrenceRecord[]> {
  const schedules = [...new Set(keys.map(({ schedule }) => schedule))]
  const instants = [...new Set(keys.map(({ at }) => at))]
  const rows = yield* wait(
    database.all<OccurrenceRow>(
      `SELECT ${occurrenceColumns('found')} FROM {occurrences} AS found WHERE found.schedule IN (?) AND found.at IN (?)`,
      [schedules, instants],
    ),
  )
  return rows.flatMap((row) => occurrenceOf(row) ?? [])
}

function textOf({ schedule, at }: OccurrenceKey): string {
  return `${at} ${schedule}`
}
