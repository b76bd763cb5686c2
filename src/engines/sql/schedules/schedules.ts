import { type Steps, wait } from '../../../core/answer.ts'
import type { ScheduleFilter, ScheduleRecord, ScheduleStanding } from '../../../queue/contract/schedule-store.ts'
import { readTime } from '../../../queue/model/spoilt.ts'
import { type DefinitionRow, definitionOf, type JoinedOccurrence, occurrenceColumns, recordOf } from '../rows/schedule-record.ts'
import type { SqlDatabase } from '../session.ts'

/** `names`: undefined for all. */
export function* standingsOf(database: SqlDatabase, names: readonly string[] | undefined): Steps<readonly ScheduleStanding[]> {
  if (names?.length === 0) return []
  const meant = names === undefined ? '' : 'WHERE schedules.name IN (?)'
  const rows = yield* wait(
    database.all<StandingRow>(
      `SELECT ${standingColumns}, ${columnsOf('latest')} FROM {schedules} AS schedules ${withLast('latest', '')} ${meant} ORDER BY schedules.name`,
      names === undefined ? [] : [names],
    ),
  )
  return rows.map((row) => ({ ...standingOf(row), latest: recordOf(row) }))
}

export function* listSchedules(
  database: SqlDatabase,
  { names, prefix }: ScheduleFilter,
  now: number,
): Steps<readonly ScheduleRecord[]> {
  if (names?.length === 0) return []
  const conditions = [
    ...(names === undefined ? [] : ['schedules.name IN (?)']),
    ...(prefix === undefined ? [] : ['schedules.name >= ? AND schedules.name < ?']),
  ]
  const meant = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const rows = yield* wait(
    database.all<ListedRow>(
      `SELECT ${standingColumns}, schedules.expression, schedules.timezone, schedules.definition, schedules.signature,
       ${columnsOf('due')}, (SELECT coming.at FROM {occurrences} AS coming
         WHERE coming.schedule = schedules.name AND coming.at > ? ORDER BY coming.at LIMIT 1) AS next_at
     FROM {schedules} AS schedules ${withLast('due', 'AND earlier.at <= ?')} ${meant} ORDER BY schedules.name`,
      [now, now, ...(names === undefined ? [] : [names]), ...(prefix === undefined ? [] : [prefix, prefix + highestCharacter])],
    ),
  )
  return rows.map((row) => {
    const { expression, timezone } = row
    const nextAt = readTime(row.next_at)
    return { ...standingOf(row), expression, timezone, definition: definitionOf(row), last: recordOf(row), nextAt }
  })
}

const standingColumns = 'schedules.name, schedules.version, schedules.since, schedules.paused_at'

type StandingRow = JoinedOccurrence & {
  readonly name: string
  readonly version: string
  readonly since: number
  readonly paused_at: number | null
}

type ListedRow = StandingRow &
  DefinitionRow & {
    readonly expression: string
    readonly timezone: string
    readonly next_at: number | null
  }

function standingOf({ name, version, since, paused_at }: StandingRow): Omit<ScheduleStanding, 'latest'> {
  return { name, version, since: readTime(since) ?? 0, paused: paused_at !== null }
}

/** Names are compared by code point, so no name with a given prefix sorts after the prefix followed by this. */
const highestCharacter = '\u{10ffff}'

function columnsOf(table: string): string {
  return occurrenceColumns.map((column) => `${table}.${column}`).join(', ')
}

/** Joins the last matching occurrence of each schedule. */
function withLast(table: string, condition: string): string {
  return `LEFT JOIN {occurrences} AS ${table} ON ${table}.schedule = schedules.name AND ${table}.at = (
    SELECT earlier.at FROM {occurrences} AS earlier
    WHERE earlier.schedule = schedules.name ${condition} ORDER BY earlier.at DESC LIMIT 1)`
}
