import type { Envelope } from '../../envelope/envelope.ts'
import type { SendReceipt } from '../contract.ts'
import { type Addresses, slotOf } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement, SqliteValue } from './driver.ts'
import { isConflict } from './failure.ts'
import { countOf, envelopeAt, type FlatEnvelopes, type FlatKind, identityAt } from './flat-envelopes.ts'
import type { Lanes } from './lanes.ts'
import type { Numbers } from './numbers.ts'
import { stateNumber, untilNumber } from './schema.ts'
import type { Stamps } from './stamps.ts'
import { isLasting, type UniqueKeys, writeUntil } from './unique-keys.ts'

/** The schedule of each envelope where they are occurrences. */
type Schedules = readonly string[] | null

/** The job that an envelope found in its place. */
export type Taken = readonly [index: number, receipt: SendReceipt]

const columns =
  'seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, number, stamp'
const valueCount = 14
/** One statement stores so many rows, or so many of what is left. */
const rowsPerStatement = [50, 8] as const

export interface SendingParts {
  readonly lanes: Lanes
  readonly stamps: Stamps
  readonly addresses: Addresses
  readonly uniqueKeys: UniqueKeys
  readonly numbers: Numbers
}

interface InsertMany {
  readonly rows: number
  readonly statement: SqliteStatement
}

/** Where envelopes of one kind stand, in this transaction. */
interface KindPlace {
  readonly kind: FlatKind
  readonly recurring: boolean
  readonly lane: number
  readonly stamp: number | null
}

/** Writes envelopes as rows. */
export class Sending {
  readonly #lanes: Lanes
  readonly #stamps: Stamps
  readonly #addresses: Addresses
  readonly #insertMany: readonly InsertMany[]
  readonly #insertOne: SqliteStatement
  readonly #uniqueKeys: UniqueKeys
  readonly #numbers: Numbers
  #lastPlace: KindPlace | null = null

  constructor(connection: Connection, { lanes, stamps, addresses, uniqueKeys, numbers }: SendingParts) {
    this.#lanes = lanes
    this.#stamps = stamps
    this.#addresses = addresses
    this.#uniqueKeys = uniqueKeys
    this.#numbers = numbers
    const row = `(${new Array(valueCount).fill('?').join(', ')})`
    this.#insertMany = rowsPerStatement.map((rows) => {
      const all = new Array(rows).fill(row).join(', ')
      return { rows, statement: connection.prepare(`INSERT INTO treadle_jobs (${columns}) VALUES ${all}`) }
    })
    this.#insertOne = connection.prepare(`INSERT INTO treadle_jobs (${columns}) VALUES ${row} ON CONFLICT DO NOTHING`)
  }

  /** Receipts only for those that were there already; the rest were stored. */
  send(flat: FlatEnvelopes, now: number, schedules: Schedules = null): readonly Taken[] {
    const taken: Taken[] = []
    const count = countOf(flat)
    const lasting = this.#lastingHolders(flat, now)
    // What an earlier transaction made may have been rolled back since.
    this.#lastPlace = null
    let index = 0
    for (const insert of this.#insertMany) {
      for (; count - index >= insert.rows; index += insert.rows) {
        if (lasting !== null || !this.#storeMany(insert, flat, index, now, schedules))
          this.#storeEach(flat, index, index + insert.rows, now, schedules, lasting, taken)
      }
    }
    this.#storeEach(flat, index, count, now, schedules, lasting, taken)
    return taken
  }

  /** Who holds keys of this batch beyond the end of a job. Null where none does, and none of the batch will: most often. */
  #lastingHolders(flat: FlatEnvelopes, now: number): Map<string, string> | null {
    if (flat.rarities === null) return null
    const keys: string[] = []
    let isAnyLasting = false
    for (const [place, { uniqueKey, uniqueUntil }] of flat.rarities) {
      if (uniqueKey === null) continue
      keys.push(scopedKey(envelopeAt(flat, place).kind.job, uniqueKey))
      isAnyLasting ||= isLasting(writeUntil(uniqueUntil))
    }
    if (keys.length === 0) return null
    const holders = this.#uniqueKeys.lastingHolders(keys, now)
    return isAnyLasting || holders.size > 0 ? holders : null
  }

  /** False, and nothing stored, when one of the rows is there already. */
  #storeMany({ rows, statement }: InsertMany, flat: FlatEnvelopes, from: number, now: number, schedules: Schedules): boolean {
    const values: SqliteValue[] = []
    for (let index = from; index < from + rows; index++) this.#push(values, flat, index, now, schedules)
    try {
      statement.run(...values)
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

  #push(values: SqliteValue[], flat: FlatEnvelopes, place: number, now: number, schedules: Schedules): void {
    const { kind, id, payload, signature, createdAt, runAt } = envelopeAt(flat, place)
    const schedule = schedules?.[place] ?? null
    const { lane, stamp } = this.#placeOf(kind, schedule !== null)
    const rare = flat.rarities?.get(place)
    const isStamped = stamp !== null && rare?.identity == null
    const identity = isStamped ? '' : identityAt(flat, place)
    const state = runAt <= now ? stateNumber.ready : stateNumber.scheduled
    values.push(slotOf(id, 0), id, lane, state, runAt, createdAt, identity, payload, signature)
    const key = rare?.uniqueKey ?? null
    if (rare === undefined || key === null) values.push(null, null)
    else values.push(scopedKey(kind.job, key), writeUntil(rare.uniqueUntil))
    values.push(schedule, rare?.number ?? null, isStamped ? stamp : null)
  }

  /** That of the last one, most often. */
  #placeOf(kind: FlatKind, recurring: boolean): KindPlace {
    const last = this.#lastPlace
    if (last !== null && last.kind === kind && last.recurring === recurring) return last
    const lane = laneOf(this.#lanes, kind, recurring)
    this.#lastPlace = { kind, recurring, lane, stamp: this.#stamps.numberOf(kind.identityEnd) }
    return this.#lastPlace
  }
}

/** The lane of an envelope of this kind. Only inside a transaction. */
export function laneOf(lanes: Lanes, kind: FlatKind | Envelope, recurring: boolean): number {
  const { queue, job, priority, singleInstance, group } = kind
  return lanes.numberOf(queue, job, priority, singleInstance, recurring, group)
}

/** Two jobs may use the same key without meeting. Neither text can hold a line feed at the seam: job names have none. */
function scopedKey(job: string, uniqueKey: string): string {
  return `${job}\n${uniqueKey}`
}

export function unscopedKey(scoped: string): string {
  return scoped.slice(scoped.indexOf('\n') + 1)
}
