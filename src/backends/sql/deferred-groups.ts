import { CountChanges } from './counts.ts'
import { Groups, type Place } from './groups.ts'
import type { SqlSession } from './session.ts'
import { stateNumber } from './tables.ts'

/**
 * For transactions that others end, perhaps much later: to say that a group has work locks a row that claims need, so it is not said
 * there. Its jobs wait for a time that has come already, and the next claim makes them ready and says it.
 */
export class DeferredGroups extends Groups {
  override async arrive(session: SqlSession, places: readonly Place[]): Promise<void> {
    if (places.length === 0) return
    const ids = places.map(({ id }) => id).sort()
    await session.run(`UPDATE {jobs by PRIMARY} SET state = ${stateNumber.scheduled} WHERE id IN (?)`, [ids])
    const changes = new CountChanges()
    for (const { lane } of places) changes.move(lane, stateNumber.ready, stateNumber.scheduled)
    await changes.insert(session)
  }
}
