import { type Steps, wait } from '../../../core/answer.ts'
import type { SqlSession } from '../session.ts'

/**
 * A number that grows with each change of a schedule; the schedule's row has it too. Transactions that change schedules or store
 * occurrences lock its row. So no occurrence is stored for a schedule that is being paused, changed or removed, and none follows
 * an occurrence that is not the latest.
 */
export function* readRevision(session: SqlSession): Steps<number> {
  const [row] = yield* wait(session.all<{ revision: number }>('SELECT revision FROM {schedule_revision}'))
  return knownRevision(row)
}

/** Locks the revision until the transaction ends. Returns its current value. */
export function* holdRevision(session: SqlSession): Steps<number> {
  const [row] = yield* wait(session.all<{ revision: number }>('SELECT revision FROM {schedule_revision} FOR UPDATE'))
  return knownRevision(row)
}

/** Only while it is held. */
export function* writeRevision(session: SqlSession, revision: number): Steps<void> {
  yield* wait(session.run('UPDATE {schedule_revision} SET revision = ?', [revision]))
}

/** False for what only somebody else can have written: numbers that no queue comes to. */
export function isRevision(value: number): boolean {
  return value >= 0 && value < 2 ** 53 - 2 ** 32
}

/** Instead of a number that somebody has spoilt, counting goes on from one that is higher than those that programs know. */
function knownRevision(row: { readonly revision: number } | undefined): number {
  const { revision } = row ?? { revision: 0 }
  return isRevision(revision) ? revision : 2 ** 52
}
