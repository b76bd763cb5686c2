import { isSameSeal, type Seal } from '../../envelope/envelope.ts'
import type { AmendAnswer, Amendment, RejectAnswer, Rejection } from '../store.ts'
import { type JobChange, stateAfter, withError } from './job-row.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { stateNumber } from './tables.ts'
import { isJobId } from './token.ts'
import type { Transactions } from './transactions.ts'

export interface AmendingParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly lanes: Lanes
  /** Another connection, where the transaction may see the database as it was when it began and not as it is. */
  readonly beside?: SqlSession
}

interface PlacedAmendment extends Amendment {
  readonly lane: Lane
}

/** What jobs carry, as it stands after the amendments so far. */
type Seals = Map<string, Seal>

/** Gives waiting jobs another payload, time and place; others only where that is asked for. */
export class Amending {
  readonly #parts: AmendingParts

  constructor(parts: AmendingParts) {
    this.#parts = parts
  }

  async amend(amendments: readonly Amendment[], now: number): Promise<readonly AmendAnswer[]> {
    const placed = await this.#placed(amendments)
    let answers: readonly AmendAnswer[] = amendments.map(() => 'missing')
    const ids = placed.flatMap((amendment) => amendment?.id ?? [])
    if (ids.length === 0) return answers
    await this.#parts.transactions.withJobs(ids, now, async (hand) => {
      const expecting = placed.flatMap((amendment) => (amendment?.expected == null ? [] : amendment.id))
      const seals = await sealsOf(hand.session, expecting)
      answers = placed.map((amendment) => (amendment === null ? 'missing' : amendOne(hand, amendment, seals)))
    })
    return answers
  }

  async reject(rejections: readonly Rejection[], now: number): Promise<readonly RejectAnswer[]> {
    let answers: readonly RejectAnswer[] = rejections.map(() => 'missing')
    const ids = rejections.map(({ id }) => id).filter(isJobId)
    if (ids.length === 0) return answers
    await this.#parts.transactions.withJobs(ids, now, async (hand) => {
      const seals = await sealsOf(hand.session, ids)
      answers = rejections.map((rejection) => rejectOne(hand, rejection, seals.get(rejection.id)))
    })
    return answers
  }

  /** With the lanes that the jobs are to stand in; null for jobs that are not there. */
  async #placed(amendments: readonly Amendment[]): Promise<readonly (PlacedAmendment | null)[]> {
    const { lanes } = this.#parts
    const ids = amendments.map(({ id }) => id).filter(isJobId)
    if (ids.length === 0) return amendments.map(() => null)
    const schedules = await this.#schedulesOf(ids)
    const place = async (isRecurring: boolean) => {
      const meant = amendments.filter(({ id }) => schedules.has(id) && (schedules.get(id) !== null) === isRecurring)
      const found = await lanes.of(
        meant.map(({ envelope }) => envelope),
        isRecurring,
      )
      return meant.map((amendment, index) => [amendment, { ...amendment, lane: found[index] as Lane }] as const)
    }
    const placed = new Map([...(await place(false)), ...(await place(true))])
    return amendments.map((amendment) => placed.get(amendment) ?? null)
  }

  /** Of the jobs that are there. */
  async #schedulesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const { database, beside } = this.#parts
    const question = 'SELECT id, schedule FROM {jobs} WHERE id IN (?)'
    const rows = await database.all<{ id: string; schedule: string | null }>(question, [ids])
    const seen = new Map(rows.map(({ id, schedule }) => [id, schedule]))
    if (seen.size === ids.length || beside === undefined) return seen
    const others = await beside.all<{ id: string; schedule: string | null }>(question, [ids])
    return new Map([...others.map(({ id, schedule }) => [id, schedule] as const), ...seen])
  }
}

function amendOne(hand: JobsInHand, amendment: PlacedAmendment, seals: Seals): AmendAnswer {
  const { id, expected, envelope, lane, inAnyState, keepsTime } = amendment
  const row = hand.get(id)
  if (row === undefined) return 'missing'
  if (row.state > stateNumber.running && inAnyState !== true) return 'ended'
  if (row.state === stateNumber.running && inAnyState !== true) return 'claimed'
  const seal = seals.get(id)
  if (expected !== null && (seal === undefined || !isSameSeal(seal, expected))) return 'changed'
  const { group, identity, payload, signature } = envelope
  const runAt = keepsTime === true ? row.run_at : envelope.runAt
  const state = row.state >= stateNumber.blocked ? row.state : stateAfter(runAt - hand.now)
  const change: JobChange = { lane: lane.lane, grp: group ?? '', state, run_at: runAt, identity, payload, signature }
  // Its token says another lane. The end of a linked job is counted where its row stands.
  const isElsewhere = state === stateNumber.running && lane.lane !== row.lane
  hand.change(id, isElsewhere ? { ...change, linked: 1 } : change)
  seals.set(id, { identity, payload, signature })
  return 'amended'
}

function rejectOne(hand: JobsInHand, { id, expected, error }: Rejection, seal: Seal | undefined): RejectAnswer {
  const row = hand.get(id)
  if (row === undefined || seal === undefined) return 'missing'
  if (row.state > stateNumber.running) return 'ended'
  if (row.state === stateNumber.running) return 'claimed'
  if (!isSameSeal(seal, expected)) return 'changed'
  const errors = withError(row.errors, error)
  hand.change(id, { state: stateNumber.dead, finished_at: hand.now, reason: 'rejected', result: null, errors })
  return 'rejected'
}

/** Of those that somebody has expectations of, while their rows are locked: said again, to see them as they are. */
async function sealsOf(session: SqlSession, ids: readonly string[]): Promise<Seals> {
  if (ids.length === 0) return new Map()
  const question = 'SELECT id, identity, payload, signature FROM {jobs} WHERE id IN (?) ORDER BY id FOR UPDATE'
  const rows = await session.all<Seal & { readonly id: string }>(question, [ids])
  return new Map(rows.map(({ id, ...seal }) => [id, seal]))
}
