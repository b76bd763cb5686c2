import type { Neighbours, OccurrenceKey, SkipRequest } from '../schedule-store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import type { KeyedRow } from './unique-keys.ts'

/** Those that wait are begun in their order: an occurrence that is begun behind so many that are not is not looked for. */
const mostWaiting = 100

// The planner would rather walk all occurrences of the schedule than use the index that holds these few.
const unended = 'treadle_occurrences AS unended INDEXED BY treadle_occurrences_unended'

/** SQL for `Neighbours.seen`: ?1 is the schedule, ?2 now. */
function isSeen(at: string): string {
  return `((SELECT max(at) FROM treadle_occurrences WHERE schedule = ?1) > ?2
    OR EXISTS (SELECT 1 FROM treadle_occurrences AS later
      WHERE later.schedule = ?1 AND later.at >= ${at} AND later.stored_at >= ${at}))`
}

interface UnendedParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly endings: Endings
}

/** Occurrences whose jobs have not ended: what they are to each other, and the end of those that nobody is to run. */
export class Unended {
  readonly #parts: UnendedParts
  readonly #earlier: SqliteStatement
  readonly #seen: SqliteStatement
  readonly #markSeen: SqliteStatement
  readonly #all: SqliteStatement
  readonly #ahead: SqliteStatement
  readonly #unseen: SqliteStatement
  readonly #job: SqliteStatement
  readonly #skip: SqliteStatement

  constructor(connection: Connection, parts: UnendedParts) {
    this.#parts = parts
    const select = `SELECT at, job_id FROM ${unended} WHERE schedule = ?1 AND outcome IS NULL`
    this.#earlier = connection.prepare(`${select} AND at < ?2 ORDER BY at LIMIT ${mostWaiting}`)
    this.#seen = connection.prepare(`SELECT ${isSeen('?3')} AS seen`)
    this.#markSeen = connection.prepare(
      'UPDATE treadle_occurrences SET stored_at = ?3 WHERE schedule = ?1 AND at = ?2 AND at <= ?3 AND stored_at < at',
    )
    this.#all = connection.prepare(select)
    this.#ahead = connection.prepare(`${select} AND at < ?2 AND stored_at < at`)
    this.#unseen = connection.prepare(`${select} AND at < ?3 AND stored_at < at AND NOT ${isSeen('unended.at')}`)
    this.#job = connection.prepare(
      'SELECT seq, id, lane, state, unique_key, unique_until, started_at FROM treadle_jobs WHERE seq = ?',
    )
    this.#skip = connection.prepare('UPDATE treadle_jobs SET state = 7, finished_at = ?, reason = ? WHERE seq = ?')
  }

  neighbours({ schedule, at }: OccurrenceKey, now: number): Neighbours {
    const earlier = this.#earlier.all(schedule, at) as UnendedRow[]
    const { seen } = this.#seen.get(schedule, now, at) as { seen: number }
    const begun = earlier.find(({ job_id }) => isBegun(this.#jobOf(job_id)))
    return { unended: begun?.at ?? null, seen: seen === 1 }
  }

  /** As if they had been stored when they were due. */
  markSeen(keys: readonly OccurrenceKey[], now: number): void {
    for (const { schedule, at } of keys) this.#markSeen.run(schedule, at, now)
  }

  skipWaiting({ schedule, before, unseenOnly, why }: SkipRequest, now: number): number {
    const rows = unseenOnly ? this.#unseen.all(schedule, now, before) : this.#ahead.all(schedule, before)
    return this.#skipUnbegun(rows as UnendedRow[], why, now)
  }

  /** For a schedule that is removed: nobody is left who would run what it left behind. */
  skipAll(schedule: string, why: string, now: number): void {
    this.#skipUnbegun(this.#all.all(schedule) as UnendedRow[], why, now)
  }

  #skipUnbegun(rows: readonly UnendedRow[], why: string, now: number): number {
    return rows.filter(({ job_id }) => this.#skipOne(job_id, why, now)).length
  }

  #skipOne(jobId: string, why: string, now: number): boolean {
    const { lanes, endings } = this.#parts
    const job = this.#jobOf(jobId)
    if (job === undefined || isBegun(job) || !isWaiting(job)) return false
    this.#skip.run(now, why, job.seq)
    lanes.move(job.lane, job.state, stateNumber.skipped)
    endings.ended(job.lane, job.seq, stateNumber.skipped, now)
    return true
  }

  #jobOf(id: string): JobRow | undefined {
    return this.#job.get(this.#parts.addresses.find(id) ?? null) as JobRow | undefined
  }
}

function isBegun(job: JobRow | undefined): boolean {
  return job !== undefined && job.started_at !== null
}

function isWaiting({ state }: JobRow): boolean {
  return state === stateNumber.ready || state === stateNumber.scheduled
}

interface UnendedRow {
  readonly at: number
  readonly job_id: string
}

interface JobRow extends KeyedRow {
  readonly seq: number
  readonly lane: number
  readonly state: number
}
