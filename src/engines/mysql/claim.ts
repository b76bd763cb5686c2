import { type Steps, wait } from '../../core/answer.ts'
import { CountChanges } from '../sql/lanes/counts.ts'
import { attemptsAfter, untilNumber } from '../sql/rows/job-row.ts'
import { isReady, stateNumber } from '../sql/rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../sql/session.ts'
import { type ClaimedRow, claimedColumns, type OpenLane, type ShortClaim, type ShortClaimed } from '../sql/shortcuts.ts'
import { mysqlDialect } from './dialect.ts'

/** How many candidates to read per lane beyond the limit, in case other workers hold locks on the first ones. */
const slack = 50

/** Finds the first ready jobs without locking, then locks them by id: locking index scans would block each other. */
export async function claim(database: SqlDatabase, request: ShortClaim): Promise<ShortClaimed> {
  const candidates = await firstOf(database, request.lanes, request.limit + slack)
  if (candidates.length === 0) return { rows: [], isContended: false }
  const rows = await database.transaction(function* (session) {
    const locked = yield* lockFirst(session, candidates, request.limit)
    return locked.length === 0 ? [] : yield* take(session, locked, request)
  })
  const isContended = rows.length < Math.min(request.limit, candidates.length)
  return { rows, isContended }
}

/** The ids of the best ready jobs in these lanes, best first. */
async function firstOf(session: SqlSession, lanes: readonly OpenLane[], most: number): Promise<readonly string[]> {
  const found = await mysqlDialect.firstReady(
    session,
    lanes.map(({ lane }) => ({ lane, grp: '' })),
    most,
  )
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

function* take(session: SqlSession, rows: readonly ClaimedRow[], request: ShortClaim): Steps<readonly ClaimedRow[]> {
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
