import type { ScheduleEntry, ScheduleRecord } from '../store.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import type { FlatEnvelopes, Sending } from './sending.ts'

/** An occurrence whose envelope is ready to cross into the database's thread. */
export interface FlatOccurrence {
  readonly schedule: string
  readonly at: number
  readonly envelope: FlatEnvelopes
}

/** Schedules, and the occurrences that they had. */
export class Recurring {
  readonly #lanes: Lanes
  readonly #sending: Sending
  readonly #find: SqliteStatement
  readonly #write: SqliteStatement
  readonly #withdrawJobs: SqliteStatement
  readonly #withdraw: SqliteStatement
  readonly #occur: SqliteStatement
  readonly #list: SqliteStatement
  readonly #forget: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, sending: Sending) {
    this.#lanes = lanes
    this.#sending = sending
    this.#find = connection.prepare('SELECT expression, timezone FROM treadle_schedules WHERE name = ?')
    this.#write = connection.prepare('INSERT OR REPLACE INTO treadle_schedules (name, expression, timezone) VALUES (?, ?, ?)')
    this.#withdrawJobs = connection.prepare(
      'DELETE FROM treadle_jobs WHERE schedule = ? AND state = 1 AND run_at > ? RETURNING lane, id',
    )
    this.#withdraw = connection.prepare('DELETE FROM treadle_occurrences WHERE schedule = ? AND job_id = ?')
    this.#occur = connection.prepare('INSERT OR IGNORE INTO treadle_occurrences (schedule, at, job_id) VALUES (?, ?, ?)')
    this.#list = connection.prepare(
      `SELECT name, expression, timezone,
         (SELECT max(at) FROM treadle_occurrences WHERE schedule = name AND at <= ?1) AS lastAt,
         (SELECT min(at) FROM treadle_occurrences WHERE schedule = name AND at > ?1) AS nextAt
       FROM treadle_schedules ORDER BY name`,
    )
    this.#forget = connection.prepare(
      `DELETE FROM treadle_occurrences WHERE (schedule, at) IN
         (SELECT schedule, at FROM treadle_occurrences WHERE at < ? ORDER BY at LIMIT ?)`,
    )
  }

  register(entries: readonly ScheduleEntry[], now: number): void {
    for (const { name, expression, timezone } of entries) {
      const known = this.#find.get(name) as { expression: string; timezone: string } | undefined
      if (known !== undefined && known.expression === expression && known.timezone === timezone) continue
      this.#write.run(name, expression, timezone)
      for (const { lane, id } of this.#withdrawJobs.all(name, now) as { lane: number; id: string }[]) {
        this.#lanes.add(lane, stateNumber.scheduled, -1)
        this.#withdraw.run(name, id)
      }
    }
  }

  enqueue(occurrences: readonly FlatOccurrence[], now: number): readonly boolean[] {
    return occurrences.map(({ schedule, at, envelope }) => {
      const isNew = Number(this.#occur.run(schedule, at, envelope[0] as string).changes) === 1
      if (isNew) this.#sending.send(envelope, now, schedule)
      return isNew
    })
  }

  list(now: number): readonly ScheduleRecord[] {
    return this.#list.all(now) as ScheduleRecord[]
  }

  forget(before: number, limit: number): number {
    return Number(this.#forget.run(before, limit).changes)
  }
}
