import { type Answer, answerOf, type Steps, wait } from '../../core/answer.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { CountChanges } from './lanes/counts.ts'
import { attemptsAfter, untilNumber } from './rows/job-row.ts'
import { columnsOf, type PlainRow } from './rows/sent-rows.ts'
import { endsAlone, isReady, stateNumber } from './rows/tables.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import {
  type ClaimedRow,
  claimedColumns,
  type DoneLease,
  type OpenLane,
  type ShortClaim,
  type ShortClaimed,
} from './shortcuts.ts'

/** Shortcuts in statements that every engine understands: each is one transaction, on rows found by primary key only. */

export function storeNew(database: SqlDatabase, rows: readonly PlainRow[]): Answer<ReadonlySet<string>> {
  return database.transaction(function* (session) {
    const written = yield* wait(session.insertNew('jobs', columnsOf(rows), rows, 'id'))
    const changes = new CountChanges()
    changes.addWritten(rows, written)
    yield* changes.insert(session)
    return written
  })
}

const held = `SELECT id, token FROM {jobs by PRIMARY} WHERE id IN (?) AND ${endsAlone} ORDER BY id FOR UPDATE`
const endedColumns = ['state', 'finished_at', 'lease_until', 'cancel', 'held_key', 'result', 'seal'] as const

export function succeedHeld(
  database: SqlDatabase,
  done: readonly DoneLease[],
  time: QueueTime,
): Answer<ReadonlySet<string> | null> {
  const ids = done.map(({ id }) => id).sort()
  return database.transaction(function* (session) {
    const rows = yield* wait(session.all<{ id: string; token: string }>(held, [ids]))
    const ended = { state: stateNumber.succeeded, finished_at: time.now(), lease_until: null, cancel: 0, held_key: null }
    const tokens = new Map(rows.map(({ id, token }) => [id, token]))
    const mine = done.filter(({ id, claim }) => tokens.get(id) === claim)
    const rowsEnded = mine.map(({ id, result, seal }) => ({ id, ...ended, result, seal }))
    yield* wait(session.update('jobs', ['id'], endedColumns, rowsEnded))
    yield* countSucceeded(session, mine)
    return mine.length === done.length ? null : new Set(mine.map(({ id }) => id))
  })
}

export function* countSucceeded(session: SqlSession, ended: readonly DoneLease[]): Steps<void> {
  const changes = new CountChanges()
  for (const { lane } of ended) changes.move(lane, stateNumber.running, stateNumber.succeeded)
  yield* changes.insert(session)
}

/** How many candidates to read per lane beyond the limit, in case other workers hold locks on the first ones. */
const slack = 50

/** Finds the first ready jobs without locking, then locks them by id: locking index scans would block each other. */
export function claimFirst(database: SqlDatabase, request: ShortClaim): Answer<ShortClaimed> {
  return answerOf(claim(database, request))
}

function* claim(database: SqlDatabase, request: ShortClaim): Steps<ShortClaimed> {
  const most = request.limit + (database.dialect.isAlone === true ? 0 : slack)
  const candidates = yield* firstOf(database, request.lanes, most)
  if (candidates.length === 0) return { rows: [], isContended: false }
  const rows = yield* wait(database.transaction((session) => takeReady(session, candidates, request)))
  return { rows, isContended: rows.length < Math.min(request.limit, candidates.length) }
}

/** Leases those of these jobs that are still ready and not locked by another transaction, up to the limit. */
export function* takeReady(session: SqlSession, ids: readonly string[], request: Taking): Steps<readonly ClaimedRow[]> {
  const locked = yield* lockFirst(session, ids, request.limit)
  return locked.length === 0 ? [] : yield* take(session, locked, request)
}

type Taking = Omit<ShortClaim, 'lanes'>

/** The ids of the best ready jobs in these lanes, best first. */
function* firstOf(database: SqlDatabase, lanes: readonly OpenLane[], most: number): Steps<readonly string[]> {
  const places = lanes.map(({ lane }) => ({ lane, grp: '' }))
  const found = yield* wait(database.dialect.firstReady(database, places, most))
  const ranked = found.flatMap((jobs, index) => {
    const { level, headStartMs } = lanes[index] as OpenLane
    return jobs.map(({ id, run_at }) => ({ id, level, rank: run_at - headStartMs }))
  })
  ranked.sort((a, b) => a.level - b.level || a.rank - b.rank || (a.id < b.id ? -1 : 1))
  return ranked.slice(0, most).map(({ id }) => id)
}

const locking = `SELECT ${claimedColumns.join(', ')} FROM {jobs by PRIMARY} WHERE id IN (?) AND ${isReady} ORDER BY id FOR UPDATE SKIP LOCKED`

/** Locks up to `limit` jobs. Moves on to worse candidates only if others have locked the better ones. */
function* lockFirst(session: SqlSession, candidates: readonly string[], limit: number): Steps<readonly ClaimedRow[]> {
  const locked: ClaimedRow[] = []
  for (let from = 0; from < candidates.length && locked.length < limit; ) {
    const until = from + limit - locked.length
    locked.push(...(yield* wait(session.all<ClaimedRow>(locking, [candidates.slice(from, until).sort()]))))
    from = until
  }
  return locked
}

const takenColumns = ['state', 'token', 'owner', 'lease_until', 'started_at', 'begun', 'attempts'] as const

function* take(session: SqlSession, rows: readonly ClaimedRow[], request: Taking): Steps<readonly ClaimedRow[]> {
  const { claim: token, owner, time, leaseMs, begun } = request
  const now = time.now()
  const lease_until = now + leaseMs
  const taken = { state: stateNumber.running, token, owner, lease_until, started_at: now, begun }
  const claimed = rows.map(({ id, attempts }) => ({ id, ...taken, attempts: attemptsAfter(attempts) }))
  yield* wait(session.update('jobs', ['id'], takenColumns, claimed))
  const freed = rows.filter(({ unique_until }) => unique_until === untilNumber.started)
  const unkeyed = freed.map(({ id }) => ({ id, held_key: null }))
  yield* wait(session.update('jobs', ['id'], ['held_key'], unkeyed))
  const changes = new CountChanges()
  for (const { lane } of rows) changes.move(lane, stateNumber.ready, stateNumber.running)
  yield* changes.insert(session)
  return rows.map((row) => ({ ...row, attempts: attemptsAfter(row.attempts), lease_until }))
}
