import type { AmendAnswer, Amendment } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import { envelopeAt, type FlatEnvelopes, flatten, identityAt } from './flat-envelopes.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import { laneOf } from './sending.ts'

/** Amendments ready to cross into the database's thread, part by part in the same order. */
export interface FlatAmendments {
  readonly ids: readonly string[]
  readonly expected: readonly (string | null)[]
  readonly envelopes: FlatEnvelopes
  readonly inAnyState: readonly boolean[]
  readonly keepsTime: readonly boolean[]
}

export function flattenAmendments(amendments: readonly Amendment[]): FlatAmendments {
  return {
    ids: amendments.map(({ id }) => id),
    expected: amendments.map(({ expected }) => expected),
    envelopes: flatten(amendments.map(({ envelope }) => envelope)),
    inAnyState: amendments.map(({ inAnyState }) => inAnyState === true),
    keepsTime: amendments.map(({ keepsTime }) => keepsTime === true),
  }
}

interface FoundRow {
  readonly seq: number
  readonly lane: number
  readonly state: number
  readonly runAt: number
  readonly schedule: string | null
  readonly isExpected: number
}

/** Gives waiting jobs another payload, time and place; others only where that is asked for. */
export class Amending {
  readonly #lanes: Lanes
  readonly #addresses: Addresses
  readonly #find: SqliteStatement
  readonly #amend: SqliteStatement
  readonly #mark: SqliteStatement

  constructor(connection: Connection, lanes: Lanes, addresses: Addresses) {
    this.#lanes = lanes
    this.#addresses = addresses
    this.#find = connection.prepare(
      'SELECT seq, lane, state, run_at AS runAt, schedule, coalesce(payload = ?2, 1) AS isExpected FROM treadle_jobs WHERE seq = ?1',
    )
    this.#amend = connection.prepare(
      'UPDATE treadle_jobs SET lane = ?, state = ?, run_at = ?, identity = ?, stamp = NULL, payload = ?, signature = ? WHERE seq = ?',
    )
    this.#mark = connection.prepare('UPDATE treadle_jobs SET linked = 1 WHERE seq = ? AND linked = 0')
  }

  amend({ ids, expected, envelopes, inAnyState, keepsTime }: FlatAmendments, now: number): readonly AmendAnswer[] {
    return ids.map((id, index) => {
      const found = this.#locate(id, expected[index] as string | null, inAnyState[index] as boolean)
      return typeof found === 'string' ? found : this.#amendOne(found, envelopes, index, keepsTime[index] as boolean, now)
    })
  }

  /** The row of a job that may be amended, or why it may not. */
  #locate(id: string, expected: string | null, inAnyState: boolean): FoundRow | AmendAnswer {
    const seq = this.#addresses.find(id)
    if (seq === undefined) return 'missing'
    const found = this.#find.get(seq, expected) as FoundRow
    if (found.state > stateNumber.running && !inAnyState) return 'ended'
    if (found.state === stateNumber.running && !inAnyState) return 'claimed'
    return found.isExpected === 0 ? 'changed' : found
  }

  #amendOne(found: FoundRow, envelopes: FlatEnvelopes, index: number, keepsTime: boolean, now: number): AmendAnswer {
    const { kind, payload, signature, runAt: written } = envelopeAt(envelopes, index)
    const runAt = keepsTime ? found.runAt : written
    const lane = laneOf(this.#lanes, kind, found.schedule !== null)
    const state = found.state >= stateNumber.blocked ? found.state : runAt > now ? stateNumber.scheduled : stateNumber.ready
    this.#amend.run(lane, state, runAt, identityAt(envelopes, index), payload, signature, found.seq)
    // Its token says another lane. The end of a linked job is counted where its row stands.
    if (state === stateNumber.running && lane !== found.lane) this.#mark.run(found.seq)
    this.#lanes.add(found.lane, found.state, -1)
    this.#lanes.add(lane, state, 1)
    return 'amended'
  }
}
