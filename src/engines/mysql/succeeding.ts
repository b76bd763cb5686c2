import { type Answer, type Steps, wait } from '../../core/answer.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { CountChanges } from '../sql/lanes/counts.ts'
import { endsAlone, stateNumber } from '../sql/rows/tables.ts'
import type { SqlDatabase, SqlSession } from '../sql/session.ts'
import type { DoneLease } from '../sql/shortcuts.ts'

/** The ids of the jobs whose leases were held; null if all were. */
type Succeeded = ReadonlySet<string> | null

/**
 * Up to this many groups of leases are ended with one statement each; for more, it is cheaper to lock and read the rows first.
 */
const mostStatements = 3

/** Almost always, all leases are held. Which ones are held only matters if some are not. */
export async function succeedQuickly(database: SqlDatabase, done: readonly DoneLease[], time: QueueTime): Promise<Succeeded> {
  const alike = groupsOf(done)
  if (alike.length > mostStatements) return succeed(database, done, time)
  try {
    await database.transaction(function* (session) {
      for (const leases of alike) yield* endAlike(session, leases, time)
      yield* count(session, done)
    })
    return null
  } catch (thrown) {
    if (!(thrown instanceof SomeLost)) throw thrown
  }
  return succeed(database, done, time)
}

/** Groups leases with the same claim and result. */
function groupsOf(done: readonly DoneLease[]): readonly (readonly DoneLease[])[] {
  const groups = new Map<string, DoneLease[]>()
  for (const lease of done) {
    const key = `${lease.claim} ${lease.seal} ${lease.result}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [lease])
    else group.push(lease)
  }
  return [...groups.values()]
}

const ending = `UPDATE {jobs by PRIMARY}
  SET state = ${stateNumber.succeeded}, finished_at = ?, lease_until = NULL, cancel = 0, held_key = NULL, result = ?, seal = ?
  WHERE id IN (?) AND ${endsAlone} AND token = ?`

/** A statement that took longer has waited for a lock, so its jobs ended after that wait. */
const longestWithoutWaitMs = 100
const dating = 'UPDATE {jobs by PRIMARY} SET finished_at = ? WHERE id IN (?)'

function* endAlike(session: SqlSession, leases: readonly DoneLease[], time: QueueTime): Steps<void> {
  const [{ claim, result, seal }] = leases as readonly [DoneLease]
  const ids = leases.map(({ id }) => id).sort()
  const now = time.now()
  if ((yield* wait(session.run(ending, [now, result, seal, ids, claim]))) < ids.length) throw new SomeLost()
  const endedAt = time.now()
  if (endedAt - now > longestWithoutWaitMs) yield* wait(session.run(dating, [endedAt, ids]))
}

/** Thrown to roll back. */
class SomeLost extends Error {}

const held = `SELECT id, token FROM {jobs by PRIMARY} WHERE id IN (?) AND ${endsAlone} ORDER BY id FOR UPDATE`
const endedColumns = ['state', 'finished_at', 'lease_until', 'cancel', 'held_key', 'result', 'seal'] as const

export function succeed(database: SqlDatabase, done: readonly DoneLease[], time: QueueTime): Answer<Succeeded> {
  const ids = done.map(({ id }) => id).sort()
  return database.transaction(function* (session) {
    const rows = yield* wait(session.all<{ id: string; token: string }>(held, [ids]))
    const ended = { state: stateNumber.succeeded, finished_at: time.now(), lease_until: null, cancel: 0, held_key: null }
    const tokens = new Map(rows.map(({ id, token }) => [id, token]))
    const mine = done.filter(({ id, claim }) => tokens.get(id) === claim)
    const rowsEnded = mine.map(({ id, result, seal }) => ({ id, ...ended, result, seal }))
    yield* wait(session.update('jobs', ['id'], endedColumns, rowsEnded))
    yield* count(session, mine)
    return mine.length === done.length ? null : new Set(mine.map(({ id }) => id))
  })
}

function* count(session: SqlSession, ended: readonly DoneLease[]): Steps<void> {
  const changes = new CountChanges()
  for (const { lane } of ended) changes.move(lane, stateNumber.running, stateNumber.succeeded)
  yield* changes.insert(session)
}
