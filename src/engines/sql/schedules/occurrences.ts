import { type Answer, type Steps, wait } from '../../../core/answer.ts'
import type { Occurrence, OccurrenceKey, OccurrenceQuery, OccurrenceRecord } from '../../../queue/contract/schedule-store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { type OccurrenceRow, occurrenceColumns, occurrenceOf } from '../rows/schedule-record.ts'
import type { SentRow } from '../rows/sent-rows.ts'
import type { Sending } from '../sending/sending.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { ScheduleRevision } from './schedule-revision.ts'

/**
 * Maximum number of keys per query. It searches all pairs of their schedules and instants, so their number is the square of this.
 */
const keysPerLook = 20

export interface OccurrencesParts {
  readonly database: SqlDatabase
  readonly sending: Sending
  readonly revision: ScheduleRevision
}

/** An occurrence to be stored with its job. */
interface Offer extends Occurrence {
  readonly row: SentRow
}

/** What decides whether an occurrence of a schedule is wanted. */
interface Standing {
  /** Null if the schedule is not registered. */
  readonly version: string | null
  readonly isPaused: boolean
  readonly latest: number | null
}

/** What schedules have stored: each occurrence once. It is stored with its job and kept longer. */
export class Occurrences {
  readonly #parts: OccurrencesParts

  constructor(parts: OccurrencesParts) {
    this.#parts = parts
  }

  /** If a job is not stored because another one has its unique key, its occurrence is not stored either. */
  *enqueue(occurrences: readonly Occurrence[], time: QueueTime): Steps<readonly boolean[]> {
    if (occurrences.length === 0) return []
    const { database, sending } = this.#parts
    const envelopes = occurrences.map(({ envelope }) => envelope)
    const schedules = occurrences.map(({ schedule }) => schedule)
    const rows = yield* sending.rowsOf(envelopes, time, schedules)
    const offers = occurrences.map((occurrence, index) => ({ ...occurrence, row: rows[index] as SentRow }))
    return yield* wait(database.transaction((session) => this.#enqueue(session, offers, time)))
  }

  *#enqueue(session: SqlSession, offers: readonly Offer[], time: QueueTime): Steps<readonly boolean[]> {
    yield* this.#parts.revision.hold(session)
    const stored = new Set<Offer>()
    for (const part of partsOf(offers)) {
      const schedules = new Set(part.map(({ schedule }) => schedule))
      const wanted = wantedOf(part, yield* standingsOf(session, [...schedules]))
      for (const offer of yield* this.#store(session, wanted, time.now())) stored.add(offer)
    }
    return offers.map((offer) => stored.has(offer))
  }

  read(query: OccurrenceQuery): Steps<readonly (OccurrenceRecord | null)[]> {
    return 'keys' in query ? this.#find(query.keys) : this.#recent(query.schedule, query.upTo, query.limit)
  }

  *#find(keys: readonly OccurrenceKey[]): Steps<readonly (OccurrenceRecord | null)[]> {
    const found = new Map<string, OccurrenceRecord>()
    const sorted = [...keys].sort((a, b) => (a.schedule < b.schedule ? -1 : 1))
    for (let first = 0; first < sorted.length; first += keysPerLook) {
      for (const record of yield* this.#findAmong(sorted.slice(first, first + keysPerLook))) found.set(textOf(record), record)
    }
    return keys.map((key) => found.get(textOf(key)) ?? null)
  }

  *#recent(schedule: string, upTo: number, limit: number): Steps<readonly OccurrenceRecord[]> {
    const rows = yield* wait(
      this.#parts.database.all<OccurrenceRow>(
        `SELECT ${occurrenceColumns('recent')} FROM {occurrences} AS recent
       WHERE recent.schedule = ? AND recent.at <= ? ORDER BY recent.at DESC LIMIT ?`,
        [schedule, upTo, limit],
      ),
    )
    return rows.flatMap((row) => occurrenceOf(row) ?? [])
  }

  *forget(before: number, limit: number): Steps<number> {
    const { database } = this.#parts
    yield* this.#forgetRemoved(before)
    const rows = yield* wait(
      database.all<{ job_id: string }>(
        `SELECT job_id FROM {occurrences} AS old WHERE old.at < ? AND old.outcome IS NOT NULL
         AND EXISTS (SELECT 1 FROM {occurrences} AS later
           WHERE later.schedule = old.schedule AND later.at > old.at AND later.outcome IS NOT NULL)
       ORDER BY old.at LIMIT ?`,
        [before, limit],
      ),
    )
    if (rows.length === 0) return 0
    const ids = rows.map(({ job_id }) => job_id)
    // A job that was put back in the meantime has no longer ended.
    return yield* wait(database.run('DELETE FROM {occurrences} WHERE job_id IN (?) AND outcome IS NOT NULL', [ids]))
  }

  /** Forgets that schedules were removed. Usually there is nothing to do, so it first looks without a lock. */
  *#forgetRemoved(before: number): Steps<void> {
    const { database } = this.#parts
    const rows = yield* wait(
      database.all<{ name: string }>('SELECT name FROM {removed_schedules} WHERE removed_at < ? LIMIT 1000', [before]),
    )
    if (rows.length === 0) return
    const names = rows.map(({ name }) => name)
    yield* wait(database.run('DELETE FROM {removed_schedules} WHERE name IN (?) AND removed_at < ?', [names, before]))
  }

  *#store(session: SqlSession, offers: readonly Offer[], now: number): Steps<ReadonlySet<Offer>> {
    const rows = offers.map(({ schedule, at, row }) => ({ schedule, at, job_id: row.id, stored_at: now }))
    const written = yield* wait(session.insertNew('occurrences', ['schedule', 'at', 'job_id', 'stored_at'], rows, 'job_id'))
    const added = offers.filter(({ row }) => written.has(row.id))
    const receipts = yield* this.#parts.sending.store(
      session,
      added.map(({ row }) => row),
      now,
    )
    for (const [index, { schedule, at }] of added.entries()) {
      if (receipts[index]?.stored === true) continue
      yield* wait(session.run('DELETE FROM {occurrences} WHERE schedule = ? AND at = ?', [schedule, at]))
    }
    return new Set(added.filter((_, index) => receipts[index]?.stored === true))
  }

  *#findAmong(keys: readonly OccurrenceKey[]): Steps<readonly OccurrenceRecord[]> {
    const schedules = [...new Set(keys.map(({ schedule }) => schedule))]
    const instants = [...new Set(keys.map(({ at }) => at))]
    const rows = yield* wait(
      this.#parts.database.all<OccurrenceRow>(
        `SELECT ${occurrenceColumns('found')} FROM {occurrences} AS found WHERE found.schedule IN (?) AND found.at IN (?)`,
        [schedules, instants],
      ),
    )
    return rows.flatMap((row) => occurrenceOf(row) ?? [])
  }
}

/**
 * Usually all offers can be stored together. But whether an offer is wanted may depend on another one of the same schedule, whose
 * job may not be stored because of its key or number. In that case the other one is stored first.
 */
function partsOf(offers: readonly Offer[]): readonly (readonly Offer[])[] {
  const parts: Offer[][] = [[]]
  let open: Offer[] = []
  for (const offer of offers) {
    const isDependent = open.some(({ schedule, at }) => {
      return schedule === offer.schedule && (offer.follows !== undefined || at === offer.at)
    })
    if (isDependent) {
      parts.push([])
      open = []
    }
    parts.at(-1)?.push(offer)
    if (offer.row.unique_key !== null || offer.row.number !== undefined) open.push(offer)
  }
  return parts
}

/**
 * The offers to store, each once, as if they came one after the other. Whether an offer already exists does not matter to those
 * that follow it: only one that is later than all others, and so does not exist yet, becomes the latest.
 */
function wantedOf(offers: readonly Offer[], standings: ReadonlyMap<string, Standing>): readonly Offer[] {
  const latest = new Map([...standings].map(([schedule, standing]) => [schedule, standing.latest]))
  const offered = new Set<string>()
  return offers.filter((offer) => {
    const { schedule, at, follows, version } = offer
    const { isPaused, version: registered } = standings.get(schedule) ?? unregistered
    const isGone = offer.registered === true && registered === null
    const isOther = isGone || (version !== undefined && registered !== null && registered !== version)
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

function* standingsOf(session: SqlSession, names: readonly string[]): Steps<ReadonlyMap<string, Standing>> {
  const registered = yield* wait(
    session.all<StandingRow>(
      `SELECT schedules.name, schedules.version, schedules.paused_at,
       (SELECT at FROM {occurrences} AS latest WHERE latest.schedule = schedules.name ORDER BY at DESC LIMIT 1) AS latest
     FROM {schedules} AS schedules WHERE schedules.name IN (?)`,
      [names],
    ),
  )
  const known = new Set(registered.map(({ name }) => name))
  const others = names.filter((name) => !known.has(name))
  const rows = others.length === 0 ? registered : [...registered, ...(yield* wait(unregisteredOnes(session, others)))]
  return new Map(rows.map(({ name, version, paused_at, latest }) => [name, { version, isPaused: paused_at !== null, latest }]))
}

/** Few programs store occurrences of schedules that they never registered. */
function unregisteredOnes(session: SqlSession, names: readonly string[]): Answer<readonly StandingRow[]> {
  return session.all<StandingRow>(
    `SELECT schedule AS name, NULL AS version, NULL AS paused_at, MAX(at) AS latest
     FROM {occurrences} WHERE schedule IN (?) GROUP BY schedule`,
    [names],
  )
}

function textOf({ schedule, at }: OccurrenceKey): string {
  return `${at} ${schedule}`
}
