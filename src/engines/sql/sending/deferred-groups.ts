import { type Steps, wait } from '../../../core/answer.ts'
import { CountChanges } from '../lanes/counts.ts'
import { Groups, type Place } from '../limits/groups.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'

/**
 * For transactions that the caller ends, perhaps much later. Adding a group locks a row that claims need, so it is not done here.
 * Instead, the jobs are stored as scheduled and already due; the next claim makes them ready and adds the group.
 */
export class DeferredGroups extends Groups {
  override *arrive(session: SqlSession, places: readonly Place[]): Steps<void> {
    if (places.length === 0) return
    const ids = places.map(({ id }) => id).sort()
    yield* wait(session.run(`UPDATE {jobs by PRIMARY} SET state = ${stateNumber.scheduled} WHERE id IN (?)`, [ids]))
    const changes = new CountChanges()
    for (const { lane } of places) changes.move(lane, stateNumber.ready, stateNumber.scheduled)
    yield* changes.insert(session)
  }

  /** The claim that finds a group without ready jobs drops it. */
  override *leave(): Steps<void> {}
}
