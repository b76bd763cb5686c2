import type { ScheduleEntry, ScheduleRecord, ScheduleStanding } from '../schedule-store.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import type { QueueTime } from './queue-time.ts'
import { type OccurrenceRow, occurrenceColumns, occurrenceOf } from './schedule-record.ts'
import type { ScheduleRevision } from './schedule-revision.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import type { Transactions } from './transactions.ts'
import type { Unended } from './unended.ts'
import { withdraw } from './withdrawing.ts'

export interface SchedulesParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly revision: ScheduleRevision
  readonly unended: Unended
}

/** Schedules: what the code says of them, and what people said. */
export class Schedules {
  readonly #parts: SchedulesParts

  constructor(parts: SchedulesParts) {
    this.#parts = parts
  }

  /** Every program registers all its schedules when it starts. Most often none has changed, and nobody is to wait for another one. */
  async register(entries: readonly ScheduleEntry[], time: QueueTime): Promise<void> {
    const { database } = this.#parts
    if (entries.length === 0) return
    const names = [...new Set(entries.map(({ name }) => name))]
    if (changesOf(entries, await known(database, names), time.now()).length === 0) return
    await this.#change(time, async (hand) => {
      const changed = changesOf(entries, await known(hand.session, names), hand.now)
      if (changed.length === 0) return false
      const columns = ['expression', 'timezone', 'version', 'since'] as const
      await hand.session.upsert('schedules', ['name', ...columns], changed, ['name'], columns)
      await withdraw(
        hand,
        changed.map(({ name }) => name),
      )
      return true
    })
  }

  async pause(name: string, time: QueueTime): Promise<boolean> {
    return this.#changeOne(name, time, async (hand, { paused_at }) => {
      if (paused_at !== null) return false
      await hand.session.run('UPDATE {schedules} SET paused_at = ? WHERE name = ?', [hand.now, name])
      await withdraw(hand, [name])
      return true
    })
  }

  /** One that is not paused was followed without a break, and still is. */
  async resume(name: string, time: QueueTime): Promise<boolean> {
    return this.#changeOne(name, time, async (hand, { paused_at }) => {
      if (paused_at === null) return false
      await hand.session.run('UPDATE {schedules} SET paused_at = NULL, since = ? WHERE name = ?', [hand.now, name])
      return true
    })
  }

  async remove(name: string, time: QueueTime): Promise<boolean> {
    return this.#changeOne(name, time, async (hand) => {
      await withdraw(hand, [name])
      await this.#parts.unended.skipAll(hand, name, 'its schedule was removed')
      await hand.session.run('DELETE FROM {occurrences} WHERE schedule = ?', [name])
      await hand.session.run('DELETE FROM {schedules} WHERE name = ?', [name])
      return true
    })
  }

  async standings(names: readonly string[] | undefined): Promise<readonly ScheduleStanding[]> {
    if (names?.length === 0) return []
    const meant = names === undefined ? '' : 'WHERE schedules.name IN (?)'
    const rows = await this.#parts.database.all<StandingRow>(
      `SELECT ${standingColumns}, ${occurrenceColumns('latest')} FROM {schedules} AS schedules ${withLast('latest', '')} ${meant}`,
      names === undefined ? [] : [names],
    )
    return rows.map((row) => ({ ...standingOf(row), latest: occurrenceOf(row) }))
  }

  async list(now: number): Promise<readonly ScheduleRecord[]> {
    const rows = await this.#parts.database.all<ListedRow>(
      `SELECT ${standingColumns}, schedules.expression, schedules.timezone, ${occurrenceColumns('due')},
         (SELECT coming.at FROM {occurrences} AS coming
           WHERE coming.schedule = schedules.name AND coming.at > ? ORDER BY coming.at LIMIT 1) AS next_at
       FROM {schedules} AS schedules ${withLast('due', 'AND earlier.at <= ?')} ORDER BY schedules.name`,
      [now, now],
    )
    return rows.map((row) => {
      const { expression, timezone, next_at: nextAt } = row
      return { ...standingOf(row), expression, timezone, last: occurrenceOf(row), nextAt }
    })
  }

  async #changeOne(
    name: string,
    time: QueueTime,
    work: (hand: JobsInHand, schedule: KnownRow) => Promise<boolean>,
  ): Promise<boolean> {
    let isKnown = false
    await this.#change(time, async (hand) => {
      const [schedule] = await known(hand.session, [name])
      isKnown = schedule !== undefined
      return schedule === undefined ? false : work(hand, schedule)
    })
    return isKnown
  }

  /** Jobs that are withdrawn may be part of workflows, so what is on links is taken first. `work` says whether it has changed anything. */
  async #change(time: QueueTime, work: (hand: JobsInHand) => Promise<boolean>): Promise<void> {
    const { transactions, revision } = this.#parts
    await transactions.alone(time, async (hand) => {
      await revision.hold(hand.session)
      if (await work(hand)) await revision.advance(hand.session)
    })
  }
}

interface KnownRow {
  readonly name: string
  readonly expression: string
  readonly timezone: string
  readonly version: string
  readonly since: number
  readonly paused_at: number | null
}

function known(session: SqlSession, names: readonly string[]): Promise<readonly KnownRow[]> {
  return session.all<KnownRow>(
    'SELECT name, expression, timezone, version, since, paused_at FROM {schedules} WHERE name IN (?)',
    [names],
  )
}

type ScheduleChange = Readonly<Record<'name' | 'expression' | 'timezone' | 'version', string>> & { readonly since: number }

/** The rows that are to be written, of each schedule the last one that was registered. */
function changesOf(entries: readonly ScheduleEntry[], rows: readonly KnownRow[], now: number): readonly ScheduleChange[] {
  const current = new Map<string, ScheduleChange>(rows.map((row) => [row.name, row]))
  const changes = new Map<string, ScheduleChange>()
  for (const { name, expression, timezone, version } of entries) {
    const before = current.get(name)
    const hasSameInstants = before?.expression === expression && before.timezone === timezone
    if (hasSameInstants && before.version === version) continue
    const change = { name, expression, timezone, version, since: hasSameInstants ? before.since : now }
    current.set(name, change)
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

interface ListedRow extends StandingRow {
  readonly expression: string
  readonly timezone: string
  readonly next_at: number | null
}

function standingOf({ name, version, since, paused_at }: StandingRow): Omit<ScheduleStanding, 'latest'> {
  return { name, version, since, paused: paused_at !== null }
}

/** Joins the last occurrence of each schedule, of those that are meant. */
function withLast(table: string, condition: string): string {
  return `LEFT JOIN {occurrences} AS ${table} ON ${table}.schedule = schedules.name AND ${table}.at = (
    SELECT earlier.at FROM {occurrences} AS earlier
    WHERE earlier.schedule = schedules.name ${condition} ORDER BY earlier.at DESC LIMIT 1)`
}
