import type { Neighbours, OccurrenceKey } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lanes } from './lanes.ts'
import type { Outcomes } from './outcomes.ts'
import { occurrenceFields } from './schedule-record.ts'
import { stateNumber } from './schema.ts'
import type { FlatEnvelopes, Sending } from './sending.ts'

/** An occurrence whose envelope is ready to cross into the database's thread. */
export interface FlatOccurrence extends OccurrenceKey {
  readonly envelope: FlatEnvelopes
  readonly follows: number | null | undefined
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
  readonly #circumstances: SqliteStatement
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
    this.#circumstances = connection.prepare(
      `SELECT
         EXISTS (SELECT 1 FROM treadle_occurrences WHERE schedule = ?1 AND at = ?2) AS known,
         EXISTS (SELECT 1 FROM treadle_schedules WHERE name = ?1 AND paused_at IS NOT NULL) AS paused,
         (SELECT max(at) FROM treadle_occurrences WHERE schedule = ?1) AS latest`,
    )
    this.#store = connection.prepare('INSERT INTO treadle_occurrences (schedule, at, job_id, stored_at) VALUES (?, ?, ?, ?)')
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

  enqueue(occurrences: readonly FlatOccurrence[], now: number): readonly boolean[] {
    return occurrences.map((occurrence) => this.#isWanted(occurrence) && this.#enqueueOne(occurrence, now))
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

  #isWanted({ schedule, at, follows }: FlatOccurrence): boolean {
    const { known, paused, latest } = this.#circumstances.get(schedule, at) as Circumstances
    return known === 0 && paused === 0 && (follows === undefined || follows === latest)
  }

  /** An occurrence whose job was not stored, because another one has its unique key, was not stored either. */
  #enqueueOne({ schedule, at, envelope }: FlatOccurrence, now: number): boolean {
    const isTaken = this.#parts.sending.send(envelope, now, schedule).length > 0
    if (!isTaken) this.#store.run(schedule, at, envelope[0] as string, now)
    return !isTaken
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

interface Circumstances {
  readonly known: number
  readonly paused: number
  readonly latest: number | null
}

interface WaitingRow {
  readonly seq: number
  readonly lane: number
  readonly state: number
}
