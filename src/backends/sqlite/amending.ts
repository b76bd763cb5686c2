import type { AmendAnswer, Amendment } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import { type FlatEnvelopes, fieldCount, flatten, laneOf } from './sending.ts'

/** Amendments ready to cross into the database's thread, part by part in the same order. */
export interface FlatAmendments {
  readonly ids: readonly string[]
  readonly expected: readonly (string | null)[]
  readonly envelopes: FlatEnvelopes
}

export function flattenAmendments(amendments: readonly Amendment[]): FlatAmendments {
  return {
    ids: amendments.map(({ id }) => id),
    expected: amendments.map(({ expected }) => expected),
    envelopes: flatten(amendments.map(({ envelope }) => envelope)),
  }
}

interface WaitingRow {
  readonly lane: number
  readonly state: number
  readonly schedule: string | null
  readonly isExpected: number
}

/** Gives waiting jobs another payload, time and place. */
export class Amending {
  readonly #lanes: Lanes
  readonly #addresses: Addresses
  readonly #find: SqliteStatement
  readonly #amend: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, addresses: Addresses) {
    this.#lanes = lanes
    this.#addresses = addresses
    this.#find = connection.prepare(
      'SELECT lane, state, schedule, coalesce(payload = ?2, 1) AS isExpected FROM treadle_jobs WHERE seq = ?1',
    )
    this.#amend = connection.prepare(
      'UPDATE treadle_jobs SET lane = ?, state = ?, run_at = ?, identity = ?, payload = ?, signature = ? WHERE seq = ?',
    )
  }

  amend({ ids, expected, envelopes }: FlatAmendments, now: number): readonly AmendAnswer[] {
    return ids.map((id, index) => {
      const envelope = envelopes.slice(index * fieldCount, (index + 1) * fieldCount)
      return this.#amendOne(id, expected[index] as string | null, envelope, now)
    })
  }

  #amendOne(id: string, expected: string | null, envelope: FlatEnvelopes, now: number): AmendAnswer {
    const seq = this.#addresses.find(id)
    if (seq === undefined) return 'missing'
    const found = this.#find.get(seq, expected) as WaitingRow
    if (found.state > stateNumber.running) return 'ended'
    if (found.state === stateNumber.running) return 'claimed'
    if (found.isExpected === 0) return 'changed'
    const [, , , , , identity, payload, signature, , runAt] = envelope as FlatEnvelope
    const lane = laneOf(this.#lanes, envelope, 0, found.schedule !== null)
    const state = found.state === stateNumber.blocked ? found.state : runAt > now ? stateNumber.scheduled : stateNumber.ready
    this.#amend.run(lane, state, runAt, identity, payload, signature, seq)
    this.#lanes.add(found.lane, found.state, -1)
    this.#lanes.add(lane, state, 1)
    return 'amended'
  }
}

/** The beginning of one envelope in the order of `flatten`. */
type FlatEnvelope = readonly [
  id: string,
  job: string,
  queue: string,
  priority: number,
  singleInstance: boolean,
  identity: string,
  payload: string,
  signature: string | null,
  createdAt: number,
  runAt: number,
]
