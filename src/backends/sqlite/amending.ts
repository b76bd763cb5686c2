import type { Seal } from '../../envelope/envelope.ts'
import type { AmendAnswer, Amendment, RejectAnswer, Rejection } from '../store.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import type { SqliteStatement } from './driver.ts'
import type { Endings } from './endings.ts'
import { envelopeAt, type FlatEnvelopes, flatten, identityAt } from './flat-envelopes.ts'
import { appended } from './job-changes.ts'
import type { Lanes } from './lanes.ts'
import { stateNumber } from './schema.ts'
import { laneOf } from './sending.ts'
import { identityIn } from './stamps.ts'

/** Amendments ready to cross into the database's thread, part by part in the same order. */
export interface FlatAmendments {
  readonly ids: readonly string[]
  readonly expected: readonly (Seal | null)[]
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

export interface AmendingParts {
  readonly lanes: Lanes
  readonly addresses: Addresses
  readonly endings: Endings
}

/** Gives waiting jobs another payload, time and place; others only where that is asked for. */
export class Amending {
  readonly #lanes: Lanes
  readonly #addresses: Addresses
  readonly #endings: Endings
  readonly #find: SqliteStatement
  readonly #amend: SqliteStatement
  readonly #reject: SqliteStatement
  readonly #mark: SqliteStatement

  constructor(connection: Connection, { lanes, addresses, endings }: AmendingParts) {
    this.#lanes = lanes
    this.#addresses = addresses
    this.#endings = endings
    this.#find = connection.prepare(
      `SELECT seq, lane, state, run_at AS runAt, schedule,
         ?2 IS NULL OR (payload IS ?2 AND (${identityIn('treadle_jobs')}) IS ?3 AND signature IS ?4) AS isExpected
       FROM treadle_jobs WHERE seq = ?1`,
    )
    this.#amend = connection.prepare(
      'UPDATE treadle_jobs SET lane = ?, state = ?, run_at = ?, identity = ?, stamp = NULL, payload = ?, signature = ? WHERE seq = ?',
    )
    this.#reject = connection.prepare(
      `UPDATE treadle_jobs SET state = 5, finished_at = ?, reason = 'rejected', result = NULL, errors = ${appended} WHERE seq = ?`,
    )
    this.#mark = connection.prepare('UPDATE treadle_jobs SET linked = 1 WHERE seq = ? AND linked = 0')
  }

  amend({ ids, expected, envelopes, inAnyState, keepsTime }: FlatAmendments, now: number): readonly AmendAnswer[] {
    return ids.map((id, index) => {
      const found = this.#locate(id, expected[index] as Seal | null, inAnyState[index] as boolean)
      return typeof found === 'string' ? found : this.#amendOne(found, envelopes, index, keepsTime[index] as boolean, now)
    })
  }

  reject(rejections: readonly Rejection[], now: number): readonly RejectAnswer[] {
    return rejections.map(({ id, expected, error }) => {
      const found = this.#locate(id, expected, false)
      if (typeof found === 'string') return found
      const text = JSON.stringify(error)
      this.#reject.run(now, text, text, found.seq)
      this.#lanes.move(found.lane, found.state, stateNumber.dead)
      this.#endings.ended(found.lane, found.seq, stateNumber.dead, now)
      return 'rejected'
    })
  }

  /** The row of a job that may be amended, or why it may not. */
  #locate(id: string, expected: Seal | null, inAnyState: boolean): FoundRow | Exclude<AmendAnswer, 'amended'> {
    const seq = this.#addresses.find(id)
    if (seq === undefined) return 'missing'
    const { payload = null, identity = null, signature = null } = expected ?? {}
    const found = this.#find.get(seq, payload, identity, signature) as FoundRow
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
