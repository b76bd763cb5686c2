import { type Steps, wait } from '../../core/answer.ts'
import type { QueueTime } from '../servers/queue-time.ts'
import { countSucceeded, succeedHeld } from '../sql/portable-shortcuts.ts'
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
  if (alike.length > mostStatements) return succeedHeld(database, done, time)
  try {
    await database.transaction(function* (session) {
      for (const leases of alike) yield* endAlike(session, leases, time)
      yield* countSucceeded(session, done)
    })
    return null
  } catch (thrown) {
    if (!(thrown instanceof SomeLost)) throw thrown
  }
  return succeedHeld(database, done, time)
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
