import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession } from '../session.ts'

/**
 * A number that grows with each change of a schedule; the schedule's row has it too. Transactions that change schedules or store
 * occurrences lock its row. So no occurrence is stored for a schedule that is being paused, changed or removed, and none follows
 * an occurrence that is not the latest.
 */
export function* readRevision(session: SqlSession): Steps<number> {
  const [row] = yield* wait(session.all<{ revision: number }>('SELECT revision FROM {schedule_revision}'))
  return row?.revision ?? 0
}

/** Locks the revision until the transaction ends. Returns its current value. */
export function* holdRevision(session: SqlSession): Steps<number> {
  const [row] = yield* wait(session.all<{ revision: number }>('SELECT revision FROM {schedule_revision} FOR UPDATE'))
  return row?.revision ?? 0
}

export function* advanceRevision(session: SqlSession, changes: number): Steps<void> {
  yield* wait(session.run('UPDATE {schedule_revision} SET revision = revision + ?', [changes]))
}
