import type { Occurrence, OccurrenceKey } from '../schedule-store.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { type FlatEnvelopes, flatten, idAt, picked } from './flat-envelopes.ts'
import type { Lanes } from './lanes.ts'
import { occurrenceFields } from './schedule-record.ts'
import { stateNumber } from './schema.ts'
import type { Sending } from './sending.ts'
import type { KeyedRow, UniqueKeys } from './unique-keys.ts'

/** Occurrences ready to cross into the database's thread, part by part in the same order. */
export interface FlatOccurrences {
  readonly schedules: readonly string[]
  readonly ats: readonly number[]
  readonly follows: readonly (number | null | undefined)[]
  readonly versions: readonly (string | undefined)[]
  readonly envelopes: FlatEnvelopes
}

export function flattenOccurrences(occurrences: readonly Occurrence[]): FlatOccurrences {
  return {
    schedules: occurrences.map(({ schedule }) => schedule),
    ats: occurrences.map(({ at }) => at),
    follows: occurrences.map(({ follows }) => follows),
    versions: occurrences.map(({ version }) => version),
    envelopes: flatten(occurrences.map(({ envelope }) => envelope)),
  }
}

interface OccurrencesParts {
  readonly lanes: Lanes
  readonly sending: Sending
  readonly uniqueKeys: UniqueKeys
  readonly endings: Endings
}

interface WithdrawnRow extends KeyedRow {
  readonly seq: number
  readonly lane: number
  readonly linked: number
}

/** What schedules have stored: each occurrence once, beside its job and longer than it. */
export class Occurrences {
  readonly #parts: OccurrencesParts
  readonly #store: SqliteStatement
  readonly #find: SqliteStatement
  readonly #recent: SqliteStatement
  readonly #withdrawJobs: SqliteStatement
  readonly #withdraw: SqliteStatement
  readonly #forget: SqliteStatement

  constructor(connection: Connection, parts: OccurrencesParts) {
    this.#parts = parts
    this.#store = connection.prepare(
      `INSERT INTO treadle_occurrences (schedule, at, job_id, stored_at)
       SELECT ?1, ?2, ?3, ?4
       WHERE NOT EXISTS (SELECT 1 FROM treadle_schedules WHERE name = ?1 AND (paused_at IS NOT NULL OR version <> ?7))
         AND (?5 OR (SELECT max(at) FROM treadle_occurrences WHERE schedule = ?1) IS ?6)
       ON CONFLICT DO NOTHING`,
    )
    this.#find = connection.prepare(
      `SELECT json_group_array(${occurrenceFields('found')} ORDER BY wanted.key) AS occurrences
       FROM json_each(?) AS wanted LEFT JOIN treadle_occurrences AS found
         ON found.schedule = wanted.value ->> 0 AND found.at = wanted.value ->> 1`,
    )
    this.#recent = connection.prepare(
      `SELECT json_group_array(${occurrenceFields('recent')}) AS occurrences FROM (
         SELECT * FROM treadle_occurrences WHERE schedule = ? AND at <= ? ORDER BY at DESC LIMIT ? + 0) AS recent`,
    )
    this.#withdrawJobs = connection.prepare(
      `DELETE FROM treadle_jobs WHERE schedule = ? AND state = 1 AND run_at > ? AND started_at IS NULL
       RETURNING seq, lane, id, linked, unique_key, unique_until, started_at`,
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
    const envelopes = picked(flat.envelopes, places)
    const schedules = places.map((index) => flat.schedules[index] as string)
    for (const [place] of this.#parts.sending.send(envelopes, now, schedules)) {
      this.#withdraw.run(idAt(envelopes, place))
      stored[places[place] as number] = false
    }
    return stored
  }

  /** To be read by `readOccurrences`. */
  find(keys: readonly OccurrenceKey[]): string {
    const wanted = JSON.stringify(keys.map(({ schedule, at }) => [schedule, at]))
    return (this.#find.get(wanted) as { occurrences: string }).occurrences
  }

  /** To be read by `readOccurrences`. */
  recent(schedule: string, upTo: number, limit: number): string {
    return (this.#recent.get(schedule, upTo, limit) as { occurrences: string }).occurrences
  }

  /** Takes back what waits for its time and was never begun, as if it had not been stored. */
  withdraw(schedule: string, now: number): void {
    const { lanes, uniqueKeys, endings } = this.#parts
    for (const job of this.#withdrawJobs.all(schedule, now) as WithdrawnRow[]) {
      lanes.add(job.lane, stateNumber.scheduled, -1)
      this.#withdraw.run(job.id)
      uniqueKeys.freeUnclaimed(job)
      if (job.linked === 1) endings.withdrawn(job.seq, now)
    }
  }

  forget(before: number, limit: number): number {
    return Number(this.#forget.run(before, limit).changes)
  }

  #storeOne({ schedules, ats, follows, versions, envelopes }: FlatOccurrences, index: number, now: number): boolean {
    const [schedule, at] = [schedules[index] as string, ats[index] as number]
    const id = idAt(envelopes, index)
    const wanted = follows[index]
    const isAny = wanted === undefined ? 1 : 0
    // Of a version that is not given, and so is null here, none is another one.
    const outcome = this.#store.run(schedule, at, id, now, isAny, wanted ?? null, versions[index] ?? null)
    return Number(outcome.changes) === 1
  }
}
