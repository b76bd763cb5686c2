import { type Answer, type Steps, wait } from '../../../core/answer.ts'
import type { ScheduleEntry, ScheduleFilter, ScheduleRecord, ScheduleStanding } from '../../../queue/contract/schedule-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type DefinitionRow, definitionOf, type OccurrenceRow, occurrenceColumns, occurrenceOf } from '../rows/schedule-record.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Unit, Units } from '../units/units.ts'
import type { ScheduleRevision } from './schedule-revision.ts'
import type { Unended } from './unended.ts'
import { withdraw } from './withdrawing.ts'

export interface SchedulesParts {
  readonly database: SqlDatabase
  readonly units: Units
  readonly revision: ScheduleRevision
  readonly unended: Unended
}

/** Schedules: what the code defines, and what users changed. */
export class Schedules {
  readonly #parts: SchedulesParts

  constructor(parts: SchedulesParts) {
    this.#parts = parts
  }

  /**
   * Every program registers all its schedules when it starts. Usually nothing has changed, and then no program should wait for
   * another.
   */
  *register(entries: readonly ScheduleEntry[], time: QueueTime): Steps<void> {
    const { database } = this.#parts
    if (entries.length === 0) return
    const names = [...new Set(entries.map(({ name }) => name))]
    if (changesOf(entries, yield* wait(known(database, names)), time.now()).length === 0) return
    yield* this.#change(time, function* (unit, revision) {
      const changed = changesOf(entries, yield* wait(known(unit.session, names)), unit.now)
      if (changed.length === 0) return 0
      const rows = changed.map((row, index) => ({ ...row, revision: revision + 1 + index }))
      const columns = ['expression', 'timezone', 'version', 'definition', 'signature', 'since', 'revision'] as const
      yield* wait(unit.session.upsert('schedules', ['name', ...columns], rows, ['name'], columns))
      const changedNames = changed.map(({ name }) => name)
      yield* wait(unit.session.run('DELETE FROM {removed_schedules} WHERE name IN (?)', [changedNames]))
      yield* withdraw(unit, changedNames)
      return changed.length
    })
  }

  pause(name: string, time: QueueTime): Steps<boolean> {
    return this.#changeOne(name, time, function* (unit, { paused_at }, revision) {
      if (paused_at !== null) return 0
      const pause = 'UPDATE {schedules} SET paused_at = ?, revision = ? WHERE name = ?'
      yield* wait(unit.session.run(pause, [unit.now, revision + 1, name]))
      yield* withdraw(unit, [name])
      return 1
    })
  }

  /** A schedule that is not paused has been running without a break, and keeps running. */
  resume(name: string, time: QueueTime): Steps<boolean> {
    return this.#changeOne(name, time, function* (unit, { paused_at }, revision) {
      if (paused_at === null) return 0
      const resume = 'UPDATE {schedules} SET paused_at = NULL, since = ?, revision = ? WHERE name = ?'
      yield* wait(unit.session.run(resume, [unit.now, revision + 1, name]))
      return 1
    })
  }

  remove(name: string, time: QueueTime): Steps<boolean> {
    const { unended } = this.#parts
    return this.#changeOne(name, time, function* (unit, _, revision) {
      yield* withdraw(unit, [name])
      yield* unended.skipAll(unit, name, 'its schedule was removed')
      yield* wait(unit.session.run('DELETE FROM {occurrences} WHERE schedule = ?', [name]))
      yield* wait(unit.session.run('DELETE FROM {schedules} WHERE name = ?', [name]))
      const removed = { name, revision: revision + 1, removed_at: unit.now }
      const columns = ['revision', 'removed_at'] as const
      yield* wait(unit.session.upsert('removed_schedules', ['name', ...columns], [removed], ['name'], columns))
      return 1
    })
  }

  *standings(names: readonly string[] | undefined): Steps<readonly ScheduleStanding[]> {
    if (names?.length === 0) return []
    const meant = names === undefined ? '' : 'WHERE schedules.name IN (?)'
    const rows = yield* wait(
      this.#parts.database.all<StandingRow>(
        `SELECT ${standingColumns}, ${occurrenceColumns('latest')} FROM {schedules} AS schedules ${withLast('latest', '')} ${meant} ORDER BY schedules.name`,
        names === undefined ? [] : [names],
      ),
    )
    return rows.map((row) => ({ ...standingOf(row), latest: occurrenceOf(row) }))
  }

  *list({ names, prefix }: ScheduleFilter, now: number): Steps<readonly ScheduleRecord[]> {
    if (names?.length === 0) return []
    const conditions = [
      ...(names === undefined ? [] : ['schedules.name IN (?)']),
      ...(prefix === undefined ? [] : ['schedules.name >= ? AND schedules.name < ?']),
    ]
    const meant = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
    const rows = yield* wait(
      this.#parts.database.all<ListedRow>(
        `SELECT ${standingColumns}, schedules.expression, schedules.timezone, schedules.definition, schedules.signature,
         ${occurrenceColumns('due')}, (SELECT coming.at FROM {occurrences} AS coming
           WHERE coming.schedule = schedules.name AND coming.at > ? ORDER BY coming.at LIMIT 1) AS next_at
       FROM {schedules} AS schedules ${withLast('due', 'AND earlier.at <= ?')} ${meant} ORDER BY schedules.name`,
        [now, now, ...(names === undefined ? [] : [names]), ...(prefix === undefined ? [] : [prefix, prefix + highestCharacter])],
      ),
    )
    return rows.map((row) => {
      const { expression, timezone, next_at: nextAt } = row
      return { ...standingOf(row), expression, timezone, definition: definitionOf(row), last: occurrenceOf(row), nextAt }
    })
  }

  *#changeOne(
    name: string,
    time: QueueTime,
    work: (unit: Unit, schedule: KnownRow, revision: number) => Steps<number>,
  ): Steps<boolean> {
    let isKnown = false
    yield* this.#change(time, function* (unit, revision) {
      const [schedule] = yield* wait(known(unit.session, [name]))
      isKnown = schedule !== undefined
      return schedule === undefined ? 0 : yield* work(unit, schedule, revision)
    })
    return isKnown
  }

  /**
   * Jobs that are withdrawn may be part of workflows, so the links mutex is taken first. `work` returns how many schedules it
   * changed: each gets its own revision, starting after the one passed to it.
   */
  *#change(time: QueueTime, work: (unit: Unit, revision: number) => Steps<number>): Steps<void> {
    const { units, revision } = this.#parts
    const change = function* (unit: Unit): Steps<void> {
      const before = yield* revision.hold(unit.session)
      const changes = yield* work(unit, before)
      if (changes > 0) yield* revision.advance(unit.session, changes)
    }
    yield* wait(units.alone(time, change))
  }
}

interface KnownRow extends DefinitionRow {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  readonly version: string
  readonly since: number
  readonly paused_at: number | null
}

function known(session: SqlSession, names: readonly string[]): Answer<readonly KnownRow[]> {
  return session.all<KnownRow>(
    'SELECT name, expression, timezone, version, definition, signature, since, paused_at FROM {schedules} WHERE name IN (?)',
    [names],
  )
}

type ScheduleChange = Readonly<Record<'name' | 'expression' | 'timezone' | 'version', string>> &
  DefinitionRow & { readonly since: number }

/** The rows to write: for each schedule, the last one that was registered. */
function changesOf(entries: readonly ScheduleEntry[], rows: readonly KnownRow[], now: number): readonly ScheduleChange[] {
  const current = new Map<string, ScheduleChange>(rows.map((row) => [row.name, row]))
  const changes = new Map<string, ScheduleChange>()
  for (const { name, expression, timezone, version, definition: said } of entries) {
    const before = current.get(name)
    const [definition, signature] = [said?.text ?? null, said?.signature ?? null]
    const hasSameInstants = before?.expression === expression && before.timezone === timezone
    const isSame = before?.version === version && before.definition === definition && before.signature === signature
    if (hasSameInstants && isSame) continue
    const since = hasSameInstants ? before.since : now
    const change = { name, expression, timezone, version, definition, signature, since }
    current.set(name, change)
    // Changes are in the order of their revisions.
    changes.delete(name)
    changes.set(name, change)
  }
  return [...changes.values()]
}

const standingColumns = 'schedules.name, schedules.version, schedules.since, schedules.paused_at'

interface StandingRow extends OccurrenceRow {
  readonly name: string
  readonly version: string
  readonly since: number
  readonly paused_at: number | null
}

interface ListedRow extends StandingRow, DefinitionRow {
  readonly expression: string
  readonly timezone: string
  readonly next_at: number | null
}

function standingOf({ name, version, since, paused_at }: StandingRow): Omit<ScheduleStanding, 'latest'> {
  return { name, version, since, paused: paused_at !== null }
}

/** Names are compared by code point, so no name with a given prefix sorts after the prefix followed by this. */
const highestCharacter = '\u{10ffff}'

/** Joins the last matching occurrence of each schedule. */
function withLast(table: string, condition: string): string {
  return `LEFT JOIN {occurrences} AS ${table} ON ${table}.schedule = schedules.name AND ${table}.at = (
    SELECT earlier.at FROM {occurrences} AS earlier
    WHERE earlier.schedule = schedules.name ${condition} ORDER BY earlier.at DESC LIMIT 1)`
}
