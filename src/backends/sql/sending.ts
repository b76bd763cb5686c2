import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../contract.ts'
import { CountChanges, type Counts } from './counts.ts'
import type { Groups } from './groups.ts'
import { digestOfKey } from './job-row.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Numbers } from './numbers.ts'
import type { QueueTime } from './queue-time.ts'
import { type PlainRow, plainRowOf, rowOf, type SentRow, sentColumns } from './sent-rows.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import type { Shortcuts } from './shortcuts.ts'
import { stateNumber } from './tables.ts'
import { holdsOn, isLasting, type UniqueKeys } from './unique-keys.ts'
import type { Word } from './waker.ts'

export interface SendingParts {
  readonly database: SqlDatabase
  readonly lanes: Lanes
  readonly counts: Counts
  readonly groups: Groups
  readonly uniqueKeys: UniqueKeys
  readonly numbers: Numbers
  readonly shortcuts: Shortcuts
  /** Another connection, where the transaction may see the database as it was when it began and not as it is. */
  readonly beside?: SqlSession
}

/** So often a job is sent again whose key was taken and then free again at the same moment. */
const mostTries = 5

/** Writes envelopes as rows. */
export class Sending {
  readonly #parts: SendingParts

  constructor(parts: SendingParts) {
    this.#parts = parts
  }

  /** Jobs that stand alone, in a transaction of their own. */
  async send(envelopes: readonly Envelope[], time: QueueTime, word: Word | null): Promise<readonly SendReceipt[]> {
    const { database, shortcuts } = this.#parts
    const isPlain = envelopes.every(({ uniqueKey, group }) => uniqueKey === null && group === null)
    if (!isPlain) {
      const rows = await this.rowsOf(envelopes, time)
      return database.transaction((session) => this.store(session, rows, time.now()))
    }
    const lanes = await this.#parts.lanes.of(envelopes)
    const rows = envelopes.map((envelope, index) => plainRowOf(envelope, lanes[index] as Lane, time))
    const written = await shortcuts.store(database, rows, word)
    this.#parts.counts.noteEntries(1)
    return this.#parts.numbers.namesakes(database, rows, receiptsOf(rows, written))
  }

  /** The rows that envelopes become. Lanes are made on the way, in transactions of their own. */
  async rowsOf(envelopes: readonly Envelope[], time: QueueTime, schedules?: readonly string[]): Promise<readonly SentRow[]> {
    const lanes = await this.#parts.lanes.of(envelopes, schedules !== undefined)
    return envelopes.map((envelope, index) => rowOf(envelope, lanes[index] as Lane, time, schedules?.[index] ?? null))
  }

  /** Stores rows one after the other and all together, each unless it is there already or its key is held. */
  async store(session: SqlSession, rows: readonly SentRow[], now: number): Promise<readonly SendReceipt[]> {
    const receipts = new Map<string, SendReceipt>()
    let left = distinctIds(rows)
    for (let tries = 1; left.length > 0 && tries <= mostTries; tries++) {
      const others = tries > 1 ? this.#parts.beside : undefined
      left = await this.#storeSome(session, left, now, receipts, others)
    }
    return firstOnly(
      rows.map(({ id }) => receipts.get(id) ?? { id, stored: false }),
      rows,
    )
  }

  /** Gives those whose keys were taken and freed again while it looked. */
  async #storeSome(
    session: SqlSession,
    rows: readonly SentRow[],
    now: number,
    receipts: Map<string, SendReceipt>,
    beside: SqlSession | undefined,
  ): Promise<readonly SentRow[]> {
    const free = await this.#withFreeKeys(session, rows, now, receipts, beside)
    const written = await session.insertNew('jobs', sentColumns, free, 'id')
    for (const { id } of free) if (written.has(id)) receipts.set(id, { id, stored: true })
    await this.#arrived(
      session,
      free.filter(({ id }) => written.has(id)),
    )
    const refused = free.filter(({ id }) => !written.has(id)).map(({ id }) => id)
    if (refused.length > 0) {
      const there = await session.all<{ id: string }>('SELECT id FROM {jobs} WHERE id IN (?)', [refused])
      for (const { id } of there) receipts.set(id, { id, stored: false })
      const left = free.filter(({ id }) => !receipts.has(id))
      const found = await this.#parts.numbers.holders(session, left)
      for (const { id, number } of left) {
        const holder = number === undefined ? undefined : found.get(number)
        if (holder !== undefined) receipts.set(id, { id: holder, stored: false })
      }
    }
    return rows.filter(({ id }) => !receipts.has(id))
  }

  /** Of several with the same key the first one has it. */
  async #withFreeKeys(
    session: SqlSession,
    rows: readonly SentRow[],
    now: number,
    receipts: Map<string, SendReceipt>,
    beside: SqlSession | undefined,
  ): Promise<readonly SentRow[]> {
    const keyed = rows.filter(({ unique_key }) => unique_key !== null)
    if (keyed.length === 0) return rows
    const { uniqueKeys } = this.#parts
    const digests = [...new Set(keyed.map(digestOfRow))].sort()
    const seenBeside = beside === undefined ? [] : await uniqueKeys.holders(beside, digests, now)
    const holders = new Map([...seenBeside, ...(await uniqueKeys.holders(session, digests, now))])
    const free: SentRow[] = []
    for (const row of rows) {
      const holder = row.unique_key === null ? undefined : holders.get(digestOfRow(row))
      if (holder !== undefined) {
        receipts.set(row.id, { id: holder, stored: false })
        continue
      }
      if (row.unique_key !== null && holdsOn(row.unique_until, now)) holders.set(digestOfRow(row), row.id)
      free.push(row)
    }
    return this.#withLastingKeys(session, free, now)
  }

  /** Keys that outlive their jobs are taken first; whoever was quicker is found when these rows are tried again. */
  async #withLastingKeys(session: SqlSession, rows: readonly SentRow[], now: number): Promise<readonly SentRow[]> {
    const lasting = rows.filter((row) => isLasting(row.unique_until) && holdsOn(row.unique_until, now))
    if (lasting.length === 0) return rows
    const keys = lasting.map((row) => ({ held_key: digestOfRow(row), job_id: row.id, until: row.unique_until as number }))
    const got = await this.#parts.uniqueKeys.take(session, keys, now)
    const lost = new Set(lasting.filter((row) => !got.has(digestOfRow(row))))
    return rows.filter((row) => !lost.has(row))
  }

  async #arrived(session: SqlSession, rows: readonly SentRow[]): Promise<void> {
    const { counts, groups, lanes } = this.#parts
    const changes = new CountChanges()
    for (const { lane, state } of rows) changes.add(lane, state, 1)
    await groups.arrive(
      session,
      rows.filter(({ lane, state }) => state === stateNumber.ready && lanes.get(lane).grouped === 1),
    )
    await changes.write(session, counts)
  }
}

function digestOfRow({ unique_key }: SentRow): string {
  return digestOfKey(unique_key as string)
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

/** Of a job that was sent twice in one batch the first one was stored. */
function firstOnly(receipts: readonly SendReceipt[], rows: readonly PlainRow[]): readonly SendReceipt[] {
  const seen = new Set<string>()
  return receipts.map((receipt, index) => {
    const { id } = rows[index] as PlainRow
    if (seen.has(id)) return { ...receipt, stored: false }
    seen.add(id)
    return receipt
  })
}
