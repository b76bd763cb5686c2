import type { Occurrence, OccurrenceKey, OccurrenceRecord } from '../schedule-store.ts'
import type { QueueTime } from './queue-time.ts'
import { type OccurrenceRow, occurrenceColumns, occurrenceOf } from './schedule-record.ts'
import type { ScheduleRevision } from './schedule-revision.ts'
import type { Sending } from './sending.ts'
import type { SentRow } from './sent-rows.ts'
import type { SqlDatabase, SqlSession } from './session.ts'

/** So many are looked for at once: among all pairs of their schedules and instants, which are as many as the square of it. */
const keysPerLook = 20

export interface OccurrencesParts {
  readonly database: SqlDatabase
  readonly sending: Sending
  readonly revision: ScheduleRevision
}

/** An occurrence that is to be stored with its job. */
interface Offer extends Occurrence {
  readonly row: SentRow
}

/** What decides whether an occurrence of a schedule is wanted. */
interface Standing {
  /** Null where the schedule is not registered. */
  readonly version: string | null
  readonly isPaused: boolean
  readonly latest: number | null
}

/** What schedules have stored: each occurrence once, beside its job and longer than it. */
export class Occurrences {
  readonly #parts: OccurrencesParts

  constructor(parts: OccurrencesParts) {
    this.#parts = parts
  }

  /** An occurrence whose job was not stored, because another one has its unique key, was not stored either. */
  async enqueue(occurrences: readonly Occurrence[], time: QueueTime): Promise<readonly boolean[]> {
    if (occurrences.length === 0) return []
    const { database, sending, revision } = this.#parts
    const envelopes = occurrences.map(({ envelope }) => envelope)
    const schedules = occurrences.map(({ schedule }) => schedule)
    const rows = await sending.rowsOf(envelopes, time, schedules)
    const offers = occurrences.map((occurrence, index) => ({ ...occurrence, row: rows[index] as SentRow }))
    return database.transaction(async (session) => {
      await revision.hold(session)
      const wanted = wantedOf(offers, await standingsOf(session, [...new Set(schedules)]))
      const stored = await this.#store(session, wanted, time.now())
      return offers.map((offer) => stored.has(offer))
    })
  }

  async find(keys: readonly OccurrenceKey[]): Promise<readonly (OccurrenceRecord | null)[]> {
    const found = new Map<string, OccurrenceRecord>()
    const sorted = [...keys].sort((a, b) => (a.schedule < b.schedule ? -1 : 1))
    for (let first = 0; first < sorted.length; first += keysPerLook) {
      for (const record of await this.#findAmong(sorted.slice(first, first + keysPerLook))) found.set(textOf(record), record)
    }
    return keys.map((key) => found.get(textOf(key)) ?? null)
  }

  async recent(schedule: string, upTo: number, limit: number): Promise<readonly OccurrenceRecord[]> {
    const rows = await this.#parts.database.all<OccurrenceRow>(
      `SELECT ${occurrenceColumns('recent')} FROM {occurrences} AS recent
       WHERE recent.schedule = ? AND recent.at <= ? ORDER BY recent.at DESC LIMIT ?`,
      [schedule, upTo, limit],
    )
    return rows.flatMap((row) => occurrenceOf(row) ?? [])
  }

  async forget(before: number, limit: number): Promise<number> {
    const { database } = this.#parts
    const rows = await database.all<{ job_id: string }>(
      `SELECT job_id FROM {occurrences} AS old WHERE old.at < ? AND old.outcome IS NOT NULL
         AND EXISTS (SELECT 1 FROM {occurrences} AS later
           WHERE later.schedule = old.schedule AND later.at > old.at AND later.outcome IS NOT NULL)
       ORDER BY old.at LIMIT ?`,
      [before, limit],
    )
    if (rows.length === 0) return 0
    const ids = rows.map(({ job_id }) => job_id)
    // A job that was put back meanwhile has not ended any more.
    return database.run('DELETE FROM {occurrences} WHERE job_id IN (?) AND outcome IS NOT NULL', [ids])
  }

  async #store(session: SqlSession, offers: readonly Offer[], now: number): Promise<ReadonlySet<Offer>> {
    const rows = offers.map(({ schedule, at, row }) => ({ schedule, at, job_id: row.id, stored_at: now }))
    const written = await session.insertNew('occurrences', ['schedule', 'at', 'job_id', 'stored_at'], rows, 'job_id')
    const added = offers.filter(({ row }) => written.has(row.id))
    const receipts = await this.#parts.sending.store(
      session,
      added.map(({ row }) => row),
      now,
    )
    const refused = added.filter((_, index) => receipts[index]?.stored !== true).map(({ row }) => row.id)
    if (refused.length > 0) await session.run('DELETE FROM {occurrences} WHERE job_id IN (?)', [refused])
    return new Set(added.filter((_, index) => receipts[index]?.stored === true))
  }

  async #findAmong(keys: readonly OccurrenceKey[]): Promise<readonly OccurrenceRecord[]> {
    const schedules = [...new Set(keys.map(({ schedule }) => schedule))]
    const instants = [...new Set(keys.map(({ at }) => at))]
    const rows = await this.#parts.database.all<OccurrenceRow>(
      `SELECT ${occurrenceColumns('found')} FROM {occurrences} AS found WHERE found.schedule IN (?) AND found.at IN (?)`,
      [schedules, instants],
    )
    return rows.flatMap((row) => occurrenceOf(row) ?? [])
  }
}

/**
 * Those that are to be stored, each once, as if they came one after the other. Whether one is there already does not matter for
 * those that follow it: only one that is later than all others, and so is not there, becomes the latest.
 */
function wantedOf(offers: readonly Offer[], standings: ReadonlyMap<string, Standing>): readonly Offer[] {
  const latest = new Map([...standings].map(([schedule, standing]) => [schedule, standing.latest]))
  const offered = new Set<string>()
  return offers.filter((offer) => {
    const { schedule, at, follows, version } = offer
    const { isPaused, version: registered } = standings.get(schedule) ?? unregistered
    const isOther = version !== undefined && registered !== null && registered !== version
    const last = latest.get(schedule) ?? null
    const isNext = follows === undefined || follows === last
    if (isPaused || isOther || !isNext || offered.has(textOf(offer))) return false
    offered.add(textOf(offer))
    if (last === null || at > last) latest.set(schedule, at)
    return true
  })
}

const unregistered: Standing = { version: null, isPaused: false, latest: null }

interface StandingRow {
  readonly name: string
  readonly version: string | null
  readonly paused_at: number | null
  readonly latest: number | null
}

async function standingsOf(session: SqlSession, names: readonly string[]): Promise<ReadonlyMap<string, Standing>> {
  const registered = await session.all<StandingRow>(
    `SELECT schedules.name, schedules.version, schedules.paused_at,
       (SELECT at FROM {occurrences} AS latest WHERE latest.schedule = schedules.name ORDER BY at DESC LIMIT 1) AS latest
     FROM {schedules} AS schedules WHERE schedules.name IN (?)`,
    [names],
  )
  const known = new Set(registered.map(({ name }) => name))
  const others = names.filter((name) => !known.has(name))
  const rows = others.length === 0 ? registered : [...registered, ...(await unregisteredOnes(session, others))]
  return new Map(rows.map(({ name, version, paused_at, latest }) => [name, { version, isPaused: paused_at !== null, latest }]))
}

/** Few programs store occurrences of schedules that they never registered. */
function unregisteredOnes(session: SqlSession, names: readonly string[]): Promise<readonly StandingRow[]> {
  return session.all<StandingRow>(
    `SELECT schedule AS name, NULL AS version, NULL AS paused_at, MAX(at) AS latest
     FROM {occurrences} WHERE schedule IN (?) GROUP BY schedule`,
    [names],
  )
}

function textOf({ schedule, at }: OccurrenceKey): string {
  return `${at} ${schedule}`
}
