import { type Steps, wait } from '../../../core/answer.ts'
import { CountChanges } from '../lanes/counts.ts'
import { Groups, type Place } from '../limits/groups.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'

/**
 * For transactions that others end, perhaps much later: to say that a group has work locks a row that claims need, so it is not said
 * there. Its jobs wait for a time that has come already, and the next claim makes them ready and says it.
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
