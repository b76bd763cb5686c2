import { type Steps, wait } from '../../../core/answer.ts'
import { stateNumber } from '../rows/tables.ts'
import type { LoadedQueue } from '../units/loaded-queue.ts'
import type { Unit } from '../units/units.ts'

/** Withdraws occurrences that wait for their time and have never begun, as if they had not been stored. */
export function* withdraw(unit: Unit, schedules: readonly string[]): Steps<void> {
  const found = yield* wait(
    unit.session.all<{ id: string }>(
      `SELECT id FROM {jobs by jobs_recurring}
     WHERE schedule IN (?) AND run_at > ? AND state + 0 = ${stateNumber.scheduled} AND started_at IS NULL`,
      [schedules, unit.now],
    ),
  )
  if (found.length === 0) return
  const ids = found.map(({ id }) => id)
  const { answer: doomed } = yield* unit.decide(ids, (queue) => deleteUnbegun(queue, ids))
  if (doomed.length > 0) yield* wait(unit.session.run('DELETE FROM {occurrences} WHERE job_id IN (?)', [doomed]))
}

function deleteUnbegun({ rules: { jobs }, now }: LoadedQueue, ids: readonly string[]): readonly string[] {
  const doomed = ids
    .flatMap((id) => jobs.get(id) ?? [])
    .filter(({ state, startedAt, runAt }) => state === 'scheduled' && startedAt === null && runAt > now)
  for (const job of doomed) jobs.delete(job)
  return doomed.map(({ envelope }) => envelope.id)
}
