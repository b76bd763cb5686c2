import { hasTags } from '../../../envelope/envelope.ts'
import type { CountChanges } from '../../sql/lanes/counts.ts'
import { crowdOf } from '../../sql/lanes/lane-numbers.ts'
import type { Lane } from '../../sql/lanes/lanes.ts'
import { stateNumber } from '../../sql/rows/tables.ts'
import type { SqliteStatement, SqliteValue } from '../file/driver.ts'
import { isConflict } from '../file/failure.ts'
import { done } from '../file/file-database.ts'
import { type FastParts, Refused } from './fast-parts.ts'
import { countOf, envelopeAt, type FlatEnvelopes, type FlatKind, identityOf } from './flat-envelopes.ts'

const columns = ['id', 'lane', 'state', 'run_at', 'created_at', 'identity', 'payload', 'signature', 'stamp'] as const
const crowdedColumns = [...columns, 'crowd'] as const
/**
 * A statement that may fail halfway copies each page before it changes it, so that it can undo what it did: a fifth of its time.
 * `OR FAIL` leaves that to the rollback of the whole transaction, which follows any failure of a fast path.
 */
const plainInsert = 'INSERT OR FAIL INTO treadle_jobs'
/** Number of rows per insert statement; smaller sizes take the remainder. */
const rowsPerStatement = [50, 8, 1] as const

/** Where envelopes of one kind are stored. */
interface KindPlace {
  readonly kind: FlatKind
  readonly lane: number
  readonly crowd: number | null
  readonly stamp: number | null
}

/** Stores jobs without a unique key, group, number, tags or links. */
export class FastStore {
  readonly #parts: FastParts
  readonly #inserts = new Map<string, SqliteStatement>()

  constructor(parts: FastParts) {
    this.#parts = parts
  }

  /** Adds to the counts, which the caller writes. */
  store(flat: FlatEnvelopes, counts: CountChanges): boolean {
    const { time } = this.#parts
    if (flat.rarities !== null || flat.kinds.some(({ group, identityEnd }) => group !== null || hasTags(identityEnd)))
      return false
    const places = this.#placesOf(flat.kinds)
    const now = time.now()
    const count = countOf(flat)
    let from = 0
    for (const rows of rowsPerStatement) {
      for (; count - from >= rows; from += rows) this.#insert(flat, from, rows, places, now, counts)
    }
    return true
  }

  #insert(
    flat: FlatEnvelopes,
    from: number,
    rows: number,
    places: readonly KindPlace[],
    now: number,
    counts: CountChanges,
  ): void {
    const isCrowded = places.some(({ crowd }) => crowd !== null)
    const values: SqliteValue[] = []
    for (let place = from; place < from + rows; place++) {
      const { kind, kindNumber, id, payload, signature, createdAt, runAt } = envelopeAt(flat, place)
      const { lane, crowd, stamp } = places[kindNumber] as KindPlace
      const state = runAt <= now ? stateNumber.ready : stateNumber.scheduled
      values.push(id, lane, state, runAt, createdAt, stamp === null ? identityOf(id, kind) : '', payload, signature, stamp)
      if (isCrowded) values.push(crowd)
      counts.add(lane, state, 1)
    }
    try {
      this.#statement(rows, isCrowded).run(...values)
    } catch (thrown) {
      // One of the ids already exists. Any other failure may have ended the transaction.
      throw isConflict(thrown) ? new Refused() : thrown
    }
  }

  #placesOf(kinds: readonly FlatKind[]): readonly KindPlace[] {
    const { rules, stamps } = this.#parts
    const lanes = done(rules.shared.lanes.of(kinds))
    return kinds.map((kind, index) => ({
      kind,
      lane: (lanes[index] as Lane).lane,
      crowd: crowdOf(lanes[index] as Lane),
      stamp: stamps.numberOf(kind.identityEnd),
    }))
  }

  /** Even a constant value costs time in every row, so `crowd` is left out when no lane is crowded, as usual. */
  #statement(rows: number, isCrowded: boolean): SqliteStatement {
    const key = `${rows}${isCrowded ? ' crowded' : ''}`
    const known = this.#inserts.get(key)
    if (known !== undefined) return known
    const written = isCrowded ? crowdedColumns : columns
    const row = `(${written.map(() => '?').join(', ')})`
    const all = new Array(rows).fill(row).join(', ')
    const statement = this.#parts.connection.prepare(`${plainInsert} (${written.join(', ')}) VALUES ${all}`)
    this.#inserts.set(key, statement)
    return statement
  }
}
