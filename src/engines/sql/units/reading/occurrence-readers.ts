import { type Steps, wait } from '../../../../core/answer.ts'
import { type OccurrenceRow, occurrenceColumns } from '../../rows/schedule-record.ts'
import type { SqlSession, SqlValue } from '../../session.ts'
import { numberAndSchedule, numberedName } from './needs.ts'
import { grouped, type RowReader } from './row-reader.ts'

type Row = OccurrenceRow

export interface OccurrenceValues {
  readonly occurrence: Row | null
  readonly occurrenceOf: Row | null
  readonly tail: readonly Row[]
  readonly unended: readonly Row[]
}

/**
 * Maximum number of occurrences per query. It searches all pairs of their schedules and instants, so their number is the square
 * of this.
 */
const keysPerQuery = 20

export const occurrenceReaders: { readonly [Kind in keyof OccurrenceValues]: RowReader<OccurrenceValues[Kind]> } = {
  occurrence: {
    absent: null,
    read: ({ session }, names) => occurrencesNamed(session, names),
  },
  occurrenceOf: {
    absent: null,
    *read({ session }, ids) {
      const rows = yield* occurrencesWhere(session, 'found.job_id IN (?)', [ids])
      return rows.map((row) => [row.job_id, row] as const)
    },
  },
  tail: {
    absent: [],
    *read({ session }, names) {
      const tails: (readonly [string, readonly Row[]])[] = []
      for (const [size, schedules] of bySize(names)) {
        const found = size === 1 ? yield* latest(session, schedules) : yield* lastOnes(session, schedules, size)
        for (const [schedule, rows] of found) tails.push([numberedName(size, schedule), rows])
      }
      return tails
    },
  },
  unended: {
    absent: [],
    /** Those whose jobs were never begun: no rule ends others. */
    *read({ session }, schedules) {
      const isUnbegun = 'NOT EXISTS (SELECT 1 FROM {jobs} AS jobs WHERE jobs.id = found.job_id AND jobs.started_at IS NOT NULL)'
      const where = `found.schedule IN (?) AND found.outcome IS NULL AND ${isUnbegun}`
      return bySchedule(yield* occurrencesWhere(session, where, [schedules]))
    },
  },
}

/** `names` are those of `numberedName`. */
export function* occurrencesNamed(session: SqlSession, names: readonly string[]): Steps<readonly (readonly [string, Row])[]> {
  const keys = names.map(numberAndSchedule).sort(([, a], [, b]) => (a < b ? -1 : 1))
  const found: (readonly [string, Row])[] = []
  for (let first = 0; first < keys.length; first += keysPerQuery) {
    const part = keys.slice(first, first + keysPerQuery)
    const [schedules, instants] = [distinct(part.map(([, schedule]) => schedule)), distinct(part.map(([at]) => at))]
    const rows = yield* occurrencesWhere(session, 'found.schedule IN (?) AND found.at IN (?)', [schedules, instants])
    for (const row of rows) found.push([numberedName(row.at, row.schedule), row])
  }
  return found
}

export function* occurrencesWhere(session: SqlSession, where: string, values: readonly SqlValue[] = []): Steps<readonly Row[]> {
  const columns = occurrenceColumns.map((column) => `found.${column}`).join(', ')
  return yield* wait(session.all<Row>(`SELECT ${columns} FROM {occurrences} AS found WHERE ${where}`, values))
}

/** One index lookup per registered schedule, in one query. Few programs store occurrences of schedules that they never registered. */
function* latest(session: SqlSession, names: readonly string[]): Steps<ReadonlyMap<string, readonly Row[]>> {
  const columns = occurrenceColumns.filter((column) => column !== 'schedule').map((column) => `latest.${column}`)
  const rows = yield* wait(
    session.all<Row | (Pick<Row, 'schedule'> & { readonly at: null })>(
      `SELECT schedules.name AS schedule, ${columns.join(', ')} FROM {schedules} AS schedules
       LEFT JOIN {occurrences} AS latest ON latest.schedule = schedules.name AND latest.at = (
         SELECT later.at FROM {occurrences} AS later WHERE later.schedule = schedules.name ORDER BY later.at DESC LIMIT 1)
       WHERE schedules.name IN (?)`,
      [names],
    ),
  )
  const registered = new Set(rows.map(({ schedule }) => schedule))
  const found = rows.filter((row): row is Row => row.at !== null)
  const others = yield* lastOnes(
    session,
    names.filter((name) => !registered.has(name)),
    1,
  )
  return new Map([...bySchedule(found), ...others])
}

function* lastOnes(session: SqlSession, schedules: readonly string[], size: number): Steps<ReadonlyMap<string, readonly Row[]>> {
  const tails = new Map<string, readonly Row[]>()
  for (const schedule of schedules) {
    const rows = yield* occurrencesWhere(session, `found.schedule = ? ORDER BY found.at DESC LIMIT ${size}`, [schedule])
    tails.set(schedule, rows.toReversed())
  }
  return tails
}

function bySize(names: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const schedules = new Map<number, string[]>()
  for (const [size, schedule] of names.map(numberAndSchedule)) schedules.set(size, [...(schedules.get(size) ?? []), schedule])
  return schedules
}

function bySchedule(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  return grouped(
    rows,
    ({ schedule }) => schedule,
    (row) => row,
  )
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)]
}
