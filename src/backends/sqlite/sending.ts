import type { Envelope, UniqueUntil } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../contract.ts'
import { type Addresses, slotOf } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement, SqliteValue } from './driver.ts'
import { isConflict } from './failure.ts'
import type { Lanes } from './lanes.ts'
import type { Numbers } from './numbers.ts'
import { stateNumber, untilNumber } from './schema.ts'
import { isLasting, type UniqueKeys, writeUntil } from './unique-keys.ts'

/** Envelopes as one flat list of values: what crosses into the database's thread at the least cost. */
export type FlatEnvelopes = readonly (string | number | boolean | null)[]

export const fieldCount = 15
/** Where an envelope's links stand, as JSON. */
export const linksPlace = 13

export function flatten(envelopes: readonly Envelope[]): FlatEnvelopes {
  const flat: (string | number | boolean | null)[] = []
  for (const {
    id,
    job,
    queue,
    priority,
    singleInstance,
    identity,
    payload,
    signature,
    createdAt,
    runAt,
    uniqueKey,
    uniqueUntil,
    group,
    links,
    number,
  } of envelopes) {
    flat.push(id, job, queue, priority, singleInstance, identity, payload, signature, createdAt, runAt, uniqueKey)
    flat.push(uniqueUntil, group, links === null ? null : JSON.stringify(links), number)
  }
  return flat
}

/** The schedule of each envelope where they are occurrences. */
type Schedules = readonly string[] | null

/** The job that an envelope found in its place. */
export type Taken = readonly [index: number, receipt: SendReceipt]

const columns =
  'seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, number'
const valueCount = 13
const rowsPerStatement = 50

export interface SendingParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly uniqueKeys: UniqueKeys
  readonly numbers: Numbers
}

/** Writes envelopes as rows. */
export class Sending {
  readonly #lanes: Lanes
  readonly #addresses: Addresses
  readonly #insertMany: SqliteStatement
  readonly #insertOne: SqliteStatement
  readonly #uniqueKeys: UniqueKeys
  readonly #numbers: Numbers

  constructor(connection: Connection, { lanes, addresses, uniqueKeys, numbers }: SendingParts) {
    this.#lanes = lanes
    this.#addresses = addresses
    this.#uniqueKeys = uniqueKeys
    this.#numbers = numbers
    const row = `(${new Array(valueCount).fill('?').join(', ')})`
    const rows = new Array(rowsPerStatement).fill(row).join(', ')
    this.#insertMany = connection.prepare(`INSERT INTO treadle_jobs (${columns}) VALUES ${rows}`)
    this.#insertOne = connection.prepare(`INSERT INTO treadle_jobs (${columns}) VALUES ${row} ON CONFLICT DO NOTHING`)
  }

  /** Receipts only for those that were there already; the rest were stored. */
  send(flat: FlatEnvelopes, now: number, schedules: Schedules = null): readonly Taken[] {
    const taken: Taken[] = []
    const count = flat.length / fieldCount
    const lasting = this.#lastingHolders(flat, now)
    let index = 0
    while (count - index >= rowsPerStatement) {
      const to = index + rowsPerStatement
      if (lasting !== null || !this.#storeMany(flat, index, now, schedules))
        this.#storeEach(flat, index, to, now, schedules, lasting, taken)
      index = to
    }
    this.#storeEach(flat, index, count, now, schedules, lasting, taken)
    return taken
  }

  /** Who holds keys of this batch beyond the end of a job. Null where none does, and none of the batch will: most often. */
  #lastingHolders(flat: FlatEnvelopes, now: number): Map<string, string> | null {
    const keys: string[] = []
    let isAnyLasting = false
    for (let at = 0; at < flat.length; at += fieldCount) {
      const uniqueKey = flat[at + 10] as string | null
      if (uniqueKey === null) continue
      keys.push(scopedKey(flat[at + 1] as string, uniqueKey))
      isAnyLasting ||= isLasting(writeUntil(flat[at + 11] as UniqueUntil))
    }
    if (keys.length === 0) return null
    const holders = this.#uniqueKeys.lastingHolders(keys, now)
    return isAnyLasting || holders.size > 0 ? holders : null
  }

  /** False, and nothing stored, when one of the rows is there already. */
  #storeMany(flat: FlatEnvelopes, from: number, now: number, schedules: Schedules): boolean {
    const values: SqliteValue[] = []
    for (let index = from; index < from + rowsPerStatement; index++) this.#push(values, flat, index, now, schedules)
    try {
      this.#insertMany.run(...values)
    } catch (thrown) {
      // Any other failure may have ended the transaction: rows that followed would be stored one by one, and not be counted.
      if (isConflict(thrown)) return false
      throw thrown
    }
    for (let at = 0; at < values.length; at += valueCount) this.#lanes.add(values[at + 2] as number, values[at + 3] as number, 1)
    return true
  }

  #storeEach(
    flat: FlatEnvelopes,
    from: number,
    to: number,
    now: number,
    schedules: Schedules,
    lasting: Map<string, string> | null,
    taken: Taken[],
  ): void {
    for (let index = from; index < to; index++) {
      const values: SqliteValue[] = []
      this.#push(values, flat, index, now, schedules)
      const existing = lasting === null ? this.#storeOne(values) : this.#storeUnlessHeld(values, lasting, now)
      if (existing === undefined) this.#lanes.add(values[2] as number, values[3] as number, 1)
      else taken.push([index, { id: existing, stored: false }])
    }
  }

  /** As `#storeOne`, in a batch with keys that outlive a job: they are held by rows of their own. */
  #storeUnlessHeld(values: SqliteValue[], lasting: Map<string, string>, now: number): string | undefined {
    const [id, key, until] = [values[1] as string, values[9] as string | null, values[10] as number | null]
    if (key === null) return this.#storeOne(values)
    const holder = lasting.get(key) ?? (isLasting(until) ? this.#uniqueKeys.livingHolder(key) : undefined)
    const existing = holder ?? this.#storeOne(values)
    if (existing === undefined && isLasting(until)) {
      this.#uniqueKeys.take(key, id, until)
      if (until === untilNumber.ever || until > now) lasting.set(key, id)
    }
    return existing
  }

  /** The id of the job that is there already, or undefined when this one was stored. */
  #storeOne(values: SqliteValue[]): string | undefined {
    const id = values[1] as string
    for (let probe = 1; Number(this.#insertOne.run(...values).changes) === 0; probe++) {
      if (this.#addresses.find(id) !== undefined) return id
      const namesake = this.#numbers.holder(values[12] as number | null)
      if (namesake !== undefined) return namesake
      const holder = this.#uniqueKeys.livingHolder(values[9] as string | null)
      if (holder !== undefined) return holder
      values[0] = slotOf(id, probe)
    }
    return undefined
  }

  #push(values: SqliteValue[], flat: FlatEnvelopes, index: number, now: number, schedules: Schedules): void {
    const at = index * fieldCount
    const schedule = schedules?.[index] ?? null
    const job = flat[at + 1] as string
    const runAt = flat[at + 9] as number
    const uniqueKey = flat[at + 10] as string | null
    values.push(
      slotOf(flat[at] as string, 0),
      flat[at] as string,
      laneOf(this.#lanes, flat, at, schedule !== null),
      runAt <= now ? stateNumber.ready : stateNumber.scheduled,
      runAt,
      flat[at + 8] as number,
      flat[at + 5] as string,
      flat[at + 6] as string,
      flat[at + 7] as string | null,
      uniqueKey === null ? null : scopedKey(job, uniqueKey),
      uniqueKey === null ? null : writeUntil(flat[at + 11] as UniqueUntil),
      schedule,
      flat[at + 14] as number | null,
    )
  }
}

/** The lane of the envelope that begins at this place. */
export function laneOf(lanes: Lanes, flat: FlatEnvelopes, at: number, recurring: boolean): number {
  const [job, queue, priority] = [flat[at + 1] as string, flat[at + 2] as string, flat[at + 3] as number]
  return lanes.numberOf(queue, job, priority, flat[at + 4] as boolean, recurring, flat[at + 12] as string | null)
}

/** Two jobs may use the same key without meeting. Neither text can hold a line feed at the seam: job names have none. */
function scopedKey(job: string, uniqueKey: string): string {
  return `${job}\n${uniqueKey}`
}

export function unscopedKey(scoped: string): string {
  return scoped.slice(scoped.indexOf('\n') + 1)
}
