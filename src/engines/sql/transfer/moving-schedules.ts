import { type Steps, wait } from '../../../core/answer.ts'
import { digest } from '../../../core/text/digest.ts'
import type { MovedSchedule } from '../../../queue/contract/transfer.ts'
import { definitionOf } from '../rows/schedule-record.ts'
import type { ScheduleRevision } from '../schedules/schedule-revision.ts'
import type { SqlSession, SqlValue } from '../session.ts'
import { mark, unmark } from './parcels.ts'
import { occurrenceRow } from './placing.ts'
import { occurrenceColumns, occurrencesWhere } from './reading.ts'

interface ScheduleRow {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  readonly version: string
  readonly definition: string | null
  readonly signature: string | null
  readonly since: number
  readonly paused_at: number | null
}

const columns = ['name', 'expression', 'timezone', 'version', 'definition', 'signature', 'since', 'paused_at'] as const

/** How many of the last occurrences are moved with a schedule. */
const lastOccurrences = 20

export interface SchedulePage {
  readonly schedules: readonly MovedSchedule[]
  /** The last name on the page; null if nothing follows. */
  readonly last: string | null
}

/** Schedules that were moved away are left out. */
export function* readSchedules(session: SqlSession, after: string, queue: string | null, limit: number): Steps<SchedulePage> {
  const values: SqlValue[] = [after]
  const isOfQueue = `AND EXISTS (SELECT 1 FROM {jobs} AS jobs JOIN {lanes} AS lanes ON lanes.lane = jobs.lane
    WHERE jobs.schedule = {schedules}.name AND lanes.queue = ?)`
  if (queue !== null) values.push(queue)
  const rows = yield* wait(
    session.all<ScheduleRow>(
      `SELECT ${columns.map((column) => `{schedules}.${column}`).join(', ')} FROM {schedules}
       WHERE {schedules}.name > ? ${queue === null ? '' : isOfQueue} ORDER BY {schedules}.name LIMIT ?`,
      [...values, limit],
    ),
  )
  const moved = yield* movedAway(session, rows)
  const here = rows.filter(({ name, paused_at }) => paused_at === null || !moved.has(name))
  const schedules: MovedSchedule[] = []
  for (const { paused_at, signature, definition: text, ...row } of here) {
    const latest = `schedule = ? ORDER BY at DESC LIMIT ${lastOccurrences}`
    const definition = definitionOf({ definition: text, signature })
    const occurrences = yield* occurrencesWhere(session, latest, [row.name])
    schedules.push({ ...row, definition, paused: paused_at !== null, occurrences })
  }
  return { schedules, last: rows.length < limit ? null : (rows.at(-1)?.name ?? null) }
}

function* movedAway(session: SqlSession, rows: readonly ScheduleRow[]): Steps<ReadonlySet<string>> {
  if (rows.length === 0) return new Set()
  const byMark = new Map(rows.map(({ name }) => [markOf(name), name]))
  const question = 'SELECT name FROM {transfers} WHERE name IN (?)'
  const marks = yield* wait(session.all<{ name: string }>(question, [[...byMark.keys()]]))
  return new Set(marks.map(({ name }) => byMark.get(name) as string))
}

/** From here on no more occurrences are stored here. Those that wait for their time stay, and leave with the jobs. */
export function* leaveSchedules(
  session: SqlSession,
  schedules: readonly MovedSchedule[],
  target: string,
  revision: ScheduleRevision,
  now: number,
): Steps<void> {
  if (schedules.length === 0) return
  const names = schedules.map(({ name }) => name)
  const before = yield* revision.hold(session)
  const pausing = schedules.map(({ name }, index) => ({ name, revision: before + 1 + index }))
  yield* wait(session.run('UPDATE {schedules} SET paused_at = ? WHERE name IN (?) AND paused_at IS NULL', [now, names]))
  yield* wait(session.update('schedules', ['name'], ['revision'], pausing))
  yield* revision.advance(session, pausing.length)
  for (const name of names) yield* mark(session, markOf(name), target, now)
}

/** What this queue knows about a schedule takes precedence, unless the schedule was moved away from here and comes back. */
export function* placeSchedules(
  session: SqlSession,
  schedules: readonly MovedSchedule[],
  revision: ScheduleRevision,
  now: number,
): Steps<void> {
  if (schedules.length === 0) return
  const names = schedules.map(({ name }) => name)
  const rows = yield* wait(session.all<ScheduleRow>(`SELECT ${columns.join(', ')} FROM {schedules} WHERE name IN (?)`, [names]))
  const known = new Map(rows.map((row) => [row.name, row]))
  const returned = yield* unmark(session, names.map(markOf))
  const placed = schedules.map((schedule) => {
    const { occurrences: _, paused, definition, ...row } = schedule
    const said = { definition: definition?.text ?? null, signature: definition?.signature ?? null }
    const coming = { ...row, ...said, paused_at: paused ? now : null }
    const here = known.get(row.name)
    return here === undefined || returned.has(markOf(row.name)) ? coming : joined(here, coming)
  })
  const before = yield* revision.hold(session)
  const changed = placed.map((row, index) => ({ ...row, revision: before + 1 + index }))
  yield* wait(session.upsert('schedules', [...columns, 'revision'], changed, ['name'], [...columns.slice(1), 'revision']))
  yield* wait(session.run('DELETE FROM {removed_schedules} WHERE name IN (?)', [names]))
  const occurrences = schedules.flatMap((schedule) => schedule.occurrences.map(occurrenceRow))
  if (occurrences.length > 0) yield* wait(session.insertNew('occurrences', occurrenceColumns, occurrences, 'job_id'))
  yield* revision.advance(session, changed.length)
}

function joined(here: ScheduleRow, coming: ScheduleRow): ScheduleRow & Readonly<Record<string, string | number | null>> {
  const hasSameInstants = here.expression === coming.expression && here.timezone === coming.timezone
  const since = hasSameInstants ? Math.min(here.since, coming.since) : here.since
  return { ...here, since, paused_at: here.paused_at ?? coming.paused_at }
}

function markOf(schedule: string): string {
  return `schedule:${digest(schedule)}`
}
