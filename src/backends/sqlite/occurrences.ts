import type { Neighbours, Occurrence, OccurrenceKey } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lanes } from './lanes.ts'
import type { Outcomes } from './outcomes.ts'
import { occurrenceFields } from './schedule-record.ts'
import { stateNumber } from './schema.ts'
import { type FlatEnvelopes, fieldCount, flatten, type Sending } from './sending.ts'

/** Occurrences ready to cross into the database's thread, part by part in the same order. */
export interface FlatOccurrences {
  readonly schedules: readonly string[]
  readonly ats: readonly number[]
  readonly follows: readonly (number | null | undefined)[]
  readonly envelopes: FlatEnvelopes
}

export function flattenOccurrences(occurrences: readonly Occurrence[]): FlatOccurrences {
  return {
    schedules: occurrences.map(({ schedule }) => schedule),
    ats: occurrences.map(({ at }) => at),
    follows: occurrences.map(({ follows }) => follows),
    envelopes: flatten(occurrences.map(({ envelope }) => envelope)),
  }
}

// The planner would rather walk all occurrences of the schedule than use the index that holds these few.
const unended = 'treadle_occurrences INDEXED BY treadle_occurrences_unended'

interface OccurrencesParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly sending: Sending
  readonly outcomes: Outcomes
}

/** What schedules have stored: each occurrence once, beside its job and longer than it. */
export class Occurrences {
  readonly #parts: OccurrencesParts
  readonly #store: SqliteStatement
  readonly #find: SqliteStatement
  readonly #neighbours: SqliteStatement
  readonly #unended: SqliteStatement
  readonly #unbegun: SqliteStatement
  readonly #skip: SqliteStatement
  readonly #withdrawJobs: SqliteStatement
  readonly #withdraw: SqliteStatement
  readonly #forget: SqliteStatement

  constructor(connection: Connection, parts: OccurrencesParts) {
    this.#parts = parts
    this.#store = connection.prepare(
      `INSERT INTO treadle_occurrences (schedule, at, job_id, stored_at)
       SELECT ?1, ?2, ?3, ?4
       WHERE NOT EXISTS (SELECT 1 FROM treadle_schedules WHERE name = ?1 AND paused_at IS NOT NULL)
         AND (?5 OR (SELECT max(at) FROM treadle_occurrences WHERE schedule = ?1) IS ?6)
       ON CONFLICT DO NOTHING`,
    )
    this.#find = connection.prepare(
      `SELECT json_group_array(${occurrenceFields('found')} ORDER BY wanted.key) AS occurrences
       FROM json_each(?) AS wanted LEFT JOIN treadle_occurrences AS found
         ON found.schedule = wanted.value ->> 0 AND found.at = wanted.value ->> 1`,
    )
    this.#neighbours = connection.prepare(
      `SELECT
         (SELECT min(at) FROM ${unended} WHERE schedule = ?1 AND at < ?2 AND outcome IS NULL) AS unended,
         EXISTS (SELECT 1 FROM treadle_occurrences WHERE schedule = ?1 AND at > ?2 AND stored_at >= ?2) AS seen`,
    )
    this.#unended = connection.prepare(
      `SELECT job_id FROM ${unended} WHERE schedule = ? AND at < ? AND outcome IS NULL ORDER BY at`,
    )
    this.#unbegun = connection.prepare(
      'SELECT seq, lane, state FROM treadle_jobs WHERE seq = ? AND state IN (0, 1) AND attempts = 0 AND rescues = 0',
    )
    this.#skip = connection.prepare('UPDATE treadle_jobs SET state = 7, finished_at = ?, reason = ? WHERE seq = ?')
    this.#withdrawJobs = connection.prepare(
      'DELETE FROM treadle_jobs WHERE schedule = ? AND state = 1 AND run_at > ? AND started_at IS NULL RETURNING lane, id',
    )
    this.#withdraw = connection.prepare('DELETE FROM treadle_occurrences WHERE job_id = ?')
    this.#forget = connection.prepare(
      `DELETE FROM treadle_occurrences WHERE (schedule, at) IN (
         SELECT schedule, at FROM treadle_occurrences AS old
         WHERE at < ? AND outcome IS NOT NULL
           AND EXISTS (SELECT 1 FROM treadle_occurrences AS later
             WHERE later.schedule = old.schedule AND later.at > old.at AND later.outcome IS NOT NULL)
         ORDER BY at LIMIT ?)`,
    )
  }

  /** An occurrence whose job was not stored, because another one has its unique key, was not stored either. */
  enqueue(flat: FlatOccurrences, now: number): readonly boolean[] {
    const stored = flat.schedules.map((_, index) => this.#storeOne(flat, index, now))
    const places = flat.schedules.flatMap((_, index) => (stored[index] ? [index] : []))
    const envelopes = places.flatMap((index) => flat.envelopes.slice(index * fieldCount, (index + 1) * fieldCount))
    const schedules = places.map((index) => flat.schedules[index] as string)
    for (const [place] of this.#parts.sending.send(envelopes, now, schedules)) {
      this.#withdraw.run(envelopes[place * fieldCount] as string)
      stored[places[place] as number] = false
    }
    return stored
  }

  /** To be read by `readOccurrences`. */
  find(keys: readonly OccurrenceKey[]): string {
    const wanted = JSON.stringify(keys.map(({ schedule, at }) => [schedule, at]))
    return (this.#find.get(wanted) as { occurrences: string }).occurrences
  }

  neighbours({ schedule, at }: OccurrenceKey): Neighbours {
    const { unended, seen } = this.#neighbours.get(schedule, at) as { unended: number | null; seen: number }
    return { unended, seen: seen === 1 }
  }

  skipWaiting(schedule: string, before: number, why: string, now: number): number {
    const unended = this.#unended.all(schedule, before) as { job_id: string }[]
    return unended.filter(({ job_id }) => this.#skipOne(job_id, why, now)).length
  }

  /** Takes back what waits for its time and was never begun, as if it had not been stored. */
  withdraw(schedule: string, now: number): void {
    for (const { lane, id } of this.#withdrawJobs.all(schedule, now) as { lane: number; id: string }[]) {
      this.#parts.lanes.add(lane, stateNumber.scheduled, -1)
      this.#withdraw.run(id)
    }
  }

  forget(before: number, limit: number): number {
    return Number(this.#forget.run(before, limit).changes)
  }

  #storeOne({ schedules, ats, follows, envelopes }: FlatOccurrences, index: number, now: number): boolean {
    const wanted = follows[index]
    const id = envelopes[index * fieldCount] as string
    const isAny = wanted === undefined ? 1 : 0
    return Number(this.#store.run(schedules[index] as string, ats[index] as number, id, now, isAny, wanted ?? null).changes) === 1
  }

  #skipOne(jobId: string, why: string, now: number): boolean {
    const { lanes, addresses, outcomes } = this.#parts
    const job = this.#unbegun.get(addresses.find(jobId) ?? null) as WaitingRow | undefined
    if (job === undefined) return false
    this.#skip.run(now, why, job.seq)
    lanes.move(job.lane, job.state, stateNumber.skipped)
    outcomes.write(job.lane, [job.seq], stateNumber.skipped, now)
    return true
  }
}

interface WaitingRow {
  readonly seq: number
  readonly lane: number
  readonly state: number
}
