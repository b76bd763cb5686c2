import { type Steps, wait } from '../../../core/answer.ts'
import { isSameSeal, type Seal } from '../../../envelope/envelope.ts'
import type { AmendAnswer, Amendment, JobChange, Rejection, Rescheduling } from '../../../queue/contract/store.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import type { Lane, Lanes } from '../lanes/lanes.ts'
import { type JobRow, type JobChange as RowChange, stateAfter, unresulted, withError } from '../rows/job-row.ts'
import { isJobId, movedFrom } from '../rows/lease-token.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../session.ts'
import type { Transactions } from '../transactions/transactions.ts'

export interface AmendingParts {
  readonly database: SqlDatabase
  readonly transactions: Transactions
  readonly lanes: Lanes
  /** Another connection, for when the transaction may see an old snapshot of the database. */
  readonly beside?: SqlSession
}

/** By amendment: the lane that its job will move to. */
type Places = ReadonlyMap<JobChange, Lane>

/** What jobs carry, after the amendments made so far. */
type Seals = Map<string, Seal>

/** Gives waiting jobs a new payload, time and place, or rejects them; jobs in other states only if that is asked for. */
export class Amending {
  readonly #parts: AmendingParts

  constructor(parts: AmendingParts) {
    this.#parts = parts
  }

  *amend(changes: readonly JobChange[], time: QueueTime): Steps<readonly AmendAnswer[]> {
    const placed = yield* this.#placed(changes.filter((change): change is Amendment => 'envelope' in change))
    const ids = changes.filter((change) => mayExist(change, placed)).map(({ id }) => id)
    if (ids.length === 0) return changes.map(() => 'missing')
    return yield* this.#parts.transactions.withJobs(ids, time, function* (hand) {
      const expecting = changes.filter((change) => mayExist(change, placed) && 'expected' in change && change.expected !== null)
      const seals = yield* sealsOf(
        hand.session,
        expecting.map(({ id }) => id),
      )
      return changes.map((change) => (mayExist(change, placed) ? changeOne(hand, change, placed, seals) : 'missing'))
    })
  }

  /** The lanes that the jobs will move to; none for jobs that do not exist. */
  *#placed(amendments: readonly Amendment[]): Steps<Places> {
    const { lanes } = this.#parts
    const ids = amendments.map(({ id }) => id).filter(isJobId)
    if (ids.length === 0) return new Map()
    const schedules = yield* this.#schedulesOf(ids)
    const place = function* (isRecurring: boolean) {
      const meant = amendments.filter(({ id }) => schedules.has(id) && (schedules.get(id) !== null) === isRecurring)
      const found = yield* lanes.of(
        meant.map(({ envelope }) => envelope),
        isRecurring,
      )
      return meant.map((amendment, index) => [amendment, found[index] as Lane] as const)
    }
    return new Map([...(yield* place(false)), ...(yield* place(true))])
  }

  /** The schedules of the jobs that exist. */
  *#schedulesOf(ids: readonly string[]): Steps<ReadonlyMap<string, string | null>> {
    const { database, beside } = this.#parts
    const question = 'SELECT id, schedule FROM {jobs} WHERE id IN (?)'
    const rows = yield* wait(database.all<{ id: string; schedule: string | null }>(question, [ids]))
    const seen = new Map(rows.map(({ id, schedule }) => [id, schedule]))
    if (seen.size === ids.length || beside === undefined) return seen
    const others = yield* wait(beside.all<{ id: string; schedule: string | null }>(question, [ids]))
    return new Map([...others.map(({ id, schedule }) => [id, schedule] as const), ...seen])
  }
}

function mayExist(change: JobChange, places: Places): boolean {
  return 'envelope' in change ? places.has(change) : isJobId(change.id)
}

function changeOne(hand: LoadedJobs, change: JobChange, places: Places, seals: Seals): AmendAnswer {
  if ('runAt' in change) return rescheduleOne(hand, change)
  if ('error' in change) return rejectOne(hand, change, seals.get(change.id))
  return amendOne(hand, change, places.get(change) as Lane, seals)
}

function rescheduleOne(hand: LoadedJobs, { id, runAt }: Rescheduling): AmendAnswer {
  const row = hand.get(id)
  if (row === undefined) return 'missing'
  if (row.state > stateNumber.running) return 'ended'
  if (row.state === stateNumber.running) return 'claimed'
  const run_at = hand.dueAt(runAt)
  hand.change(id, { state: row.state === stateNumber.blocked ? row.state : stateAfter(run_at - hand.now), run_at })
  return 'moved'
}

function amendOne(hand: LoadedJobs, amendment: Amendment, lane: Lane, seals: Seals): AmendAnswer {
  const { id, expected, envelope, inAnyState, keepsTime, unblocks } = amendment
  const row = hand.get(id)
  if (row === undefined) return 'missing'
  if (row.state > stateNumber.running && inAnyState !== true) return 'ended'
  if (row.state === stateNumber.running && inAnyState !== true) return 'claimed'
  const seal = seals.get(id)
  if (expected !== null && (seal === undefined || !isSameSeal(seal, expected))) return 'changed'
  const { group, identity, payload, signature } = envelope
  const runAt = keepsTime === true ? row.run_at : hand.dueAt(envelope.runAt)
  const isUnblocked = row.state === stateNumber.blocked && unblocks === true
  const state = row.state >= stateNumber.blocked && !isUnblocked ? row.state : stateAfter(runAt - hand.now)
  const change: RowChange = { lane: lane.lane, grp: group ?? '', state, run_at: runAt, identity, payload, signature }
  const isElsewhere = state === stateNumber.running && lane.lane !== row.lane
  hand.change(id, { ...change, ...(isElsewhere && heldElsewhere(row)), ...(isUnblocked && unresulted) })
  seals.set(id, { identity, payload, signature })
  return 'amended'
}

/**
 * The worker that holds the job has a token that names the old lane. The job becomes linked, because the end of a linked job is
 * counted in the lane of its row.
 */
function heldElsewhere({ lane, token }: JobRow): RowChange {
  return { linked: 1, token: movedFrom(lane, token as string) }
}

function rejectOne(hand: LoadedJobs, { id, expected, error }: Rejection, seal: Seal | undefined): AmendAnswer {
  const row = hand.get(id)
  if (row === undefined || seal === undefined) return 'missing'
  if (row.state > stateNumber.running) return 'ended'
  if (row.state === stateNumber.running) return 'claimed'
  if (!isSameSeal(seal, expected)) return 'changed'
  const errors = withError(row.errors, error)
  hand.change(id, { state: stateNumber.dead, finished_at: hand.now, reason: 'rejected', result: null, errors })
  return 'rejected'
}

/**
 * For jobs whose amendments have expectations. Their rows are already locked; locking them again returns their current contents.
 */
function* sealsOf(session: SqlSession, ids: readonly string[]): Steps<Seals> {
  if (ids.length === 0) return new Map()
  const question = 'SELECT id, identity, payload, signature FROM {jobs} WHERE id IN (?) ORDER BY id FOR UPDATE'
  const rows = yield* wait(session.all<Seal & { readonly id: string }>(question, [ids]))
  return new Map(rows.map(({ id, ...seal }) => [id, seal]))
}
