import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession } from '../session.ts'

/**
 * A higher number after each change of a schedule, which the schedule's row has as well. Whoever changes schedules or stores occurrences holds its row: so nobody stores an
 * occurrence of a schedule that is being paused, changed or removed, and nobody goes on from an occurrence that is not the latest.
 */
export class ScheduleRevision {
  *read(session: SqlSession): Steps<number> {
    const [row] = yield* wait(session.all<{ revision: number }>('SELECT revision FROM {schedule_revision}'))
    return row?.revision ?? 0
  }

  /** Until the transaction ends. Gives the revision as it is by then. */
  *hold(session: SqlSession): Steps<number> {
    const [row] = yield* wait(session.all<{ revision: number }>('SELECT revision FROM {schedule_revision} FOR UPDATE'))
    return row?.revision ?? 0
  }

  *advance(session: SqlSession, changes: number): Steps<void> {
    yield* wait(session.run('UPDATE {schedule_revision} SET revision = revision + ?', [changes]))
  }
}
