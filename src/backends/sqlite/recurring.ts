import type { ScheduleEntry } from '../schedule-store.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Occurrences } from './occurrences.ts'
import { occurrenceFields } from './schedule-record.ts'
import type { Unended } from './unended.ts'
import { withoutBlob } from './without-blob.ts'

/** Schedules: what the code says of them, and what people said. */
export class Recurring {
  readonly #occurrences: Occurrences
  readonly #unended: Unended
  readonly #find: SqliteStatement
  readonly #write: SqliteStatement
  readonly #pause: SqliteStatement
  readonly #resume: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #removeOccurrences: SqliteStatement
  readonly #change: SqliteStatement
  readonly #revision: SqliteStatement
  readonly #standings: SqliteStatement
  readonly #standingsOf: SqliteStatement
  readonly #list: SqliteStatement

  constructor(connection: Connection, occurrences: Occurrences, unended: Unended) {
    this.#occurrences = occurrences
    this.#unended = unended
    this.#find = connection.prepare(
      'SELECT expression, timezone, version, since, paused_at FROM treadle_schedules WHERE name = ?',
    )
    this.#write = connection.prepare(
      `INSERT INTO treadle_schedules (name, expression, timezone, version, since) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET
         expression = excluded.expression, timezone = excluded.timezone, version = excluded.version, since = excluded.since`,
    )
    this.#pause = connection.prepare('UPDATE treadle_schedules SET paused_at = ? WHERE name = ?')
    this.#resume = connection.prepare('UPDATE treadle_schedules SET paused_at = NULL, since = ? WHERE name = ?')
    this.#remove = connection.prepare('DELETE FROM treadle_schedules WHERE name = ?')
    this.#removeOccurrences = connection.prepare('DELETE FROM treadle_occurrences WHERE schedule = ?')
    this.#change = connection.prepare('UPDATE treadle_schedule_revision SET revision = revision + 1')
    this.#revision = connection.prepare('SELECT revision FROM treadle_schedule_revision')
    const standings = `SELECT json_group_array(json_array(
         name, ${withoutBlob('version')}, ${withoutBlob('since')}, paused_at IS NOT NULL, ${occurrenceFields('latest')})) AS standings
       FROM treadle_schedules LEFT JOIN treadle_occurrences AS latest
         ON latest.schedule = name AND latest.at = (SELECT max(at) FROM treadle_occurrences WHERE schedule = name)`
    this.#standings = connection.prepare(standings)
    this.#standingsOf = connection.prepare(`${standings} WHERE name IN (SELECT value FROM json_each(?))`)
    this.#list = connection.prepare(
      `SELECT json_group_array(json_array(
         name, ${withoutBlob('version')}, ${withoutBlob('since')}, paused_at IS NOT NULL, ${occurrenceFields('last')}, ${withoutBlob('expression')}, ${withoutBlob('timezone')},
         (SELECT min(at) FROM treadle_occurrences WHERE schedule = name AND at > ?1)) ORDER BY name) AS schedules
       FROM treadle_schedules LEFT JOIN treadle_occurrences AS last
         ON last.schedule = name AND last.at = (SELECT max(at) FROM treadle_occurrences WHERE schedule = name AND at <= ?1)`,
    )
  }

  register(entries: readonly ScheduleEntry[], now: number): void {
    for (const { name, expression, timezone, version } of entries) {
      const known = this.#known(name)
      const hasSameInstants = known?.expression === expression && known.timezone === timezone
      if (hasSameInstants && known.version === version) continue
      this.#write.run(name, expression, timezone, version, hasSameInstants ? known.since : now)
      this.#occurrences.withdraw(name, now)
      this.#change.run()
    }
  }

  /** To be read by `readStandings`. */
  standings(names: readonly string[] | undefined): string {
    const row = names === undefined ? this.#standings.get() : this.#standingsOf.get(JSON.stringify(names))
    return (row as { standings: string }).standings
  }

  revision(): number {
    return (this.#revision.get() as { revision: number }).revision
  }

  pause(name: string, now: number): boolean {
    const known = this.#known(name)
    if (known === undefined) return false
    if (known.paused_at !== null) return true
    this.#pause.run(now, name)
    this.#occurrences.withdraw(name, now)
    this.#change.run()
    return true
  }

  /** One that is not paused was followed without a break, and still is. */
  resume(name: string, now: number): boolean {
    const known = this.#known(name)
    if (known === undefined) return false
    if (known.paused_at === null) return true
    this.#resume.run(now, name)
    this.#change.run()
    return true
  }

  remove(name: string, now: number): boolean {
    if (this.#known(name) === undefined) return false
    this.#occurrences.withdraw(name, now)
    this.#unended.skipAll(name, 'its schedule was removed', now)
    this.#removeOccurrences.run(name)
    this.#remove.run(name)
    this.#change.run()
    return true
  }

  /** To be read by `readSchedules`. */
  list(now: number): string {
    return (this.#list.get(now) as { schedules: string }).schedules
  }

  #known(name: string): KnownRow | undefined {
    return this.#find.get(name) as KnownRow | undefined
  }
}

interface KnownRow {
  readonly expression: string
  readonly timezone: string
  readonly version: string
  readonly since: number
  readonly paused_at: number | null
}
