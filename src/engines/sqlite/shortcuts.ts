import { type Steps, wait } from '../../core/answer.ts'
import { CountChanges } from '../sql/lanes/counts.ts'
import { attemptsAfter, mostAttempts, untilNumber } from '../sql/rows/job-row.ts'
import { columnsOf } from '../sql/rows/sent-rows.ts'
import { endsAlone, stateNumber } from '../sql/rows/tables.ts'
import type { SqlSession } from '../sql/session.ts'
import { type ClaimedRow, claimedColumns, type OpenLane, type ShortClaim, type Shortcuts } from '../sql/shortcuts.ts'

const { ready, running, succeeded } = stateNumber

/** Plain jobs in a batch with others. A batch of plain jobs alone is faster through `FastPaths`. */
export const sqliteShortcuts: Shortcuts = {
  store: (database, rows) =>
    database.transaction(function* (session) {
      const written = yield* wait(session.insertNew('jobs', columnsOf(rows), rows, 'id'))
      const changes = new CountChanges()
      changes.addWritten(rows, written)
      yield* changes.insert(session)
      return written
    }),
  succeed: (database, done, time) =>
    database.transaction(function* (session) {
      const held = `SELECT id, token FROM {jobs} WHERE id IN (?) AND ${endsAlone}`
      const rows = yield* wait(session.all<{ id: string; token: string }>(held, [done.map(({ id }) => id)]))
      const tokens = new Map(rows.map(({ id, token }) => [id, token]))
      const mine = done.filter(({ id, claim }) => tokens.get(id) === claim)
      const ended = { state: succeeded, finished_at: time.now(), lease_until: null, cancel: 0, held_key: null }
      const columns = ['state', 'finished_at', 'lease_until', 'cancel', 'held_key', 'result', 'seal'] as const
      const changed = mine.map(({ id, result, seal }) => ({ id, ...ended, result, seal }))
      yield* wait(session.update('jobs', ['id'], columns, changed))
      const changes = new CountChanges()
      for (const { lane } of mine) changes.move(lane, running, succeeded)
      yield* changes.insert(session)
      return mine.length === done.length ? null : new Set(mine.map(({ id }) => id))
    }),
  claim: (database, request) => database.transaction((session) => claim(session, request)),
  heedsPauses: false,
}

const take = `UPDATE {jobs} SET state = ${running}, token = ?, owner = ?, lease_until = ?, started_at = ?, begun = ?,
  attempts = LEAST(attempts, ${mostAttempts}) + 1, held_key = CASE WHEN unique_until = ${untilNumber.started} THEN NULL ELSE held_key END
  WHERE id IN (?)`

function* claim(session: SqlSession, request: ShortClaim) {
  const ids = yield* firstOf(session, request.lanes, request.limit)
  if (ids.length === 0) return { rows: [], isContended: false }
  const { claim: token, owner, time, leaseMs, begun } = request
  const found = yield* wait(session.all<ClaimedRow>(`SELECT ${claimedColumns.join(', ')} FROM {jobs} WHERE id IN (?)`, [ids]))
  const now = time.now()
  const lease_until = now + leaseMs
  yield* wait(session.run(take, [token, owner, lease_until, now, begun, ids]))
  const changes = new CountChanges()
  for (const { lane } of found) changes.move(lane, ready, running)
  yield* changes.insert(session)
  const rows = found.map((row) => ({ ...row, attempts: attemptsAfter(row.attempts), lease_until }))
  return { rows, isContended: false }
}

/** The ids of the best ready jobs in these lanes. */
function* firstOf(session: SqlSession, lanes: readonly OpenLane[], most: number): Steps<readonly string[]> {
  const places = lanes.map(({ lane }) => ({ lane, grp: '' }))
  const found = yield* wait(session.dialect.firstReady(session, places, most))
  const ranked = found.flatMap((jobs, index) => {
    const { level, headStartMs } = lanes[index] as OpenLane
    return jobs.map(({ id, run_at }) => ({ id, level, rank: run_at - headStartMs }))
  })
  ranked.sort((a, b) => a.level - b.level || a.rank - b.rank || (a.id < b.id ? -1 : 1))
  return ranked.slice(0, most).map(({ id }) => id)
}
