import { type Steps, wait } from '../../../core/answer.ts'
import { type Envelope, hasTags } from '../../../envelope/envelope.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Numbers } from '../keys/numbers.ts'
import { holdsOn, isLasting, type LastingKey, type UniqueKeys } from '../keys/unique-keys.ts'
import { CountChanges, type Counts, lanesIn } from '../lanes/counts.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import type { Groups } from '../limits/groups.ts'
import { digestOfKey } from '../rows/job-row.ts'
import { type PlainRow, plainRowOf, rowOf, type SentRow, sentColumns } from '../rows/sent-rows.ts'
import { stateNumber } from '../rows/tables.ts'
import { writeTags } from '../rows/tags.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Shortcuts } from '../shortcuts.ts'
import type { Word } from '../waking/waker.ts'

export interface SendingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly uniqueKeys: UniqueKeys
  readonly numbers: Numbers
  readonly shortcuts: Shortcuts
  /** Another connection, for when the transaction may see an old snapshot of the database. */
  readonly beside?: SqlSession
}

/** How often to retry a job whose key was taken and freed again at the same moment. */
const mostTries = 5

/** Writes envelopes as rows. */
export class Sending {
  readonly #parts: SendingParts

  constructor(parts: SendingParts) {
    this.#parts = parts
  }

  /** Stores jobs without links in their own transaction. */
  *send(envelopes: readonly Envelope[], time: QueueTime, word: Word | null): Steps<readonly SendReceipt[]> {
    const { database, shortcuts } = this.#parts
    const isPlain = envelopes.every(
      ({ uniqueKey, group, identity }) => uniqueKey === null && group === null && !hasTags(identity),
    )
    if (!isPlain) {
      const rows = yield* this.rowsOf(envelopes, time)
      return yield* wait(database.transaction((session) => this.store(session, rows, time.now())))
    }
    const lanes = yield* this.#parts.lanes.of(envelopes)
    const rows = envelopes.map((envelope, index) => plainRowOf(envelope, lanes[index] as Lane, time))
    const written = yield* wait(shortcuts.store(database, rows, word))
    this.#parts.counts.noteEntries(lanesIn(rows))
    return yield* this.#parts.numbers.namesakes(database, rows, receiptsOf(rows, written))
  }

  /** The rows for these envelopes. Missing lanes are created in transactions of their own. */
  *rowsOf(envelopes: readonly Envelope[], time: QueueTime, schedules?: readonly string[]): Steps<readonly SentRow[]> {
    const lanes = yield* this.#parts.lanes.of(envelopes, schedules !== undefined)
    return envelopes.map((envelope, index) => rowOf(envelope, lanes[index] as Lane, time, schedules?.[index] ?? null))
  }

  /** Stores rows as if one after the other, but together. A row is left out if it already exists or if its key is held. */
  *store(session: SqlSession, rows: readonly SentRow[], now: number): Steps<readonly SendReceipt[]> {
    const receipts = new Map<string, SendReceipt>()
    let left = distinctIds(rows)
    for (let tries = 1; left.length > 0 && tries <= mostTries; tries++) {
      const others = tries > 1 ? this.#parts.beside : undefined
      left = yield* this.#storeSome(session, left, now, receipts, others)
    }
    return firstOnly(
      rows.map(({ id }) => receipts.get(id) ?? { id, stored: false }),
      rows,
    )
  }

  /** Returns the rows whose keys were taken and freed again in the meantime. */
  *#storeSome(
    session: SqlSession,
    rows: readonly SentRow[],
    now: number,
    receipts: Map<string, SendReceipt>,
    beside: SqlSession | undefined,
  ): Steps<readonly SentRow[]> {
    const { free, lasting } = yield* this.#withFreeKeys(session, rows, now, receipts, beside)
    const written = yield* wait(session.insertNew('jobs', sentColumns, free, 'id'))
    for (const { id } of free) if (written.has(id)) receipts.set(id, { id, stored: true })
    yield* this.#arrived(
      session,
      free.filter(({ id }) => written.has(id)),
    )
    const refused = free.filter(({ id }) => !written.has(id))
    if (refused.length > 0) {
      yield* this.#parts.uniqueKeys.free(
        session,
        lasting.filter(({ job_id }) => !written.has(job_id)),
      )
      yield* this.#findStored(session, refused, receipts)
    }
    return rows.filter(({ id }) => !receipts.has(id))
  }

  /** Finds the jobs that exist in place of rows that could not be written. */
  *#findStored(session: SqlSession, refused: readonly SentRow[], receipts: Map<string, SendReceipt>): Steps<void> {
    const ids = refused.map(({ id }) => id)
    const there = yield* wait(session.all<{ id: string }>('SELECT id FROM {jobs} WHERE id IN (?)', [ids]))
    for (const { id } of there) receipts.set(id, { id, stored: false })
    const left = refused.filter(({ id }) => !receipts.has(id))
    const found = yield* this.#parts.numbers.holders(session, left)
    for (const { id, number } of left) {
      const holder = number === undefined ? undefined : found.get(number)
      if (holder !== undefined) receipts.set(id, { id: holder, stored: false })
    }
  }

  /** If several rows have the same key, the first gets it. A job that already exists, or whose number is taken, needs no key. */
  *#withFreeKeys(
    session: SqlSession,
    rows: readonly SentRow[],
    now: number,
    receipts: Map<string, SendReceipt>,
    beside: SqlSession | undefined,
  ): Steps<Keyed> {
    const keyed = rows.filter(({ unique_key }) => unique_key !== null)
    if (keyed.length === 0) return { free: rows, lasting: [] }
    const { uniqueKeys } = this.#parts
    const digests = [...new Set(keyed.map(digestOfRow))].sort()
    const seenBeside = beside === undefined ? [] : yield* uniqueKeys.holders(beside, digests, now)
    const ids = rows.map(({ id }) => id)
    const found = yield* uniqueKeys.holdersAndJobs(session, digests, ids, now)
    const holders = new Map([...seenBeside, ...found.holders])
    const numbered = rows.filter(({ number }) => number !== undefined)
    const there = new StoredJobs(found.there, yield* this.#parts.numbers.holders(session, numbered))
    const free: SentRow[] = []
    for (const row of rows) {
      const holder = there.holderOf(row) ?? (row.unique_key === null ? undefined : holders.get(digestOfRow(row)))
      if (holder !== undefined) {
        receipts.set(row.id, { id: holder, stored: false })
        continue
      }
      there.add(row)
      if (row.unique_key !== null && holdsOn(row.unique_until, now)) holders.set(digestOfRow(row), row.id)
      free.push(row)
    }
    return yield* this.#withLastingKeys(session, free, now)
  }

  /**
   * Keys that outlive their jobs are taken first. If another transaction was faster, its job is found when these rows are
   * retried.
   */
  *#withLastingKeys(session: SqlSession, rows: readonly SentRow[], now: number): Steps<Keyed> {
    const wanted = rows.filter((row) => isLasting(row.unique_until) && holdsOn(row.unique_until, now))
    if (wanted.length === 0) return { free: rows, lasting: [] }
    const keys = wanted.map((row) => ({ held_key: digestOfRow(row), job_id: row.id, until: row.unique_until as number }))
    const got = yield* this.#parts.uniqueKeys.take(session, keys, now)
    const lost = new Set(wanted.filter((row) => !got.has(digestOfRow(row))))
    return { free: rows.filter((row) => !lost.has(row)), lasting: keys.filter(({ held_key }) => got.has(held_key)) }
  }

  *#arrived(session: SqlSession, rows: readonly SentRow[]): Steps<void> {
    const { counts, groups, lanes } = this.#parts
    const changes = new CountChanges()
    for (const { lane, state } of rows) changes.add(lane, state, 1)
    yield* groups.arrive(
      session,
      rows.filter(({ lane, state }) => state === stateNumber.ready && lanes.get(lane).grouped === 1),
    )
    yield* changes.write(session, counts)
    yield* writeTags(session, rows)
  }
}

interface Keyed {
  readonly free: readonly SentRow[]
  /** The lasting keys that were taken for some of them. */
  readonly lasting: readonly LastingKey[]
}

/** Jobs that exist, by id and number, and those about to be stored. */
class StoredJobs {
  readonly #ids: Set<string>
  readonly #byNumber: Map<number, string>

  constructor(ids: readonly string[], byNumber: ReadonlyMap<number, string>) {
    this.#ids = new Set(ids)
    this.#byNumber = new Map(byNumber)
  }

  holderOf({ id, number }: SentRow): string | undefined {
    if (this.#ids.has(id)) return id
    return number === undefined ? undefined : this.#byNumber.get(number)
  }

  add({ id, number }: SentRow): void {
    if (number !== undefined) this.#byNumber.set(number, id)
  }
}

function digestOfRow({ unique_key, held_key }: SentRow): string {
  return held_key ?? digestOfKey(unique_key as string)
}

function distinctIds(rows: readonly SentRow[]): readonly SentRow[] {
  return [...new Map([...rows].reverse().map((row) => [row.id, row])).values()].reverse()
}

function receiptsOf(rows: readonly PlainRow[], written: ReadonlySet<string> | null): readonly SendReceipt[] {
  if (written === null) return rows.map(({ id }) => ({ id, stored: true }))
  return firstOnly(
    rows.map(({ id }) => ({ id, stored: written.has(id) })),
    rows,
  )
}

/** If a job was sent twice in one batch, the first one was stored. */
function firstOnly(receipts: readonly SendReceipt[], rows: readonly PlainRow[]): readonly SendReceipt[] {
  const seen = new Set<string>()
  return receipts.map((receipt, index) => {
    const { id } = rows[index] as PlainRow
    if (seen.has(id)) return { ...receipt, stored: false }
    seen.add(id)
    return receipt
  })
}
