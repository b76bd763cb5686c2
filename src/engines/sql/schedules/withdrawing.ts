import { type Steps, wait } from '../../../core/answer.ts'
import type { JobRow } from '../rows/job-row.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'

/** Withdraws occurrences that wait for their time and have never begun, as if they had not been stored. */
export function* withdraw(hand: LoadedJobs, schedules: readonly string[]): Steps<void> {
  const found = yield* wait(
    hand.session.all<{ id: string }>(
      `SELECT id FROM {jobs by jobs_recurring}
     WHERE schedule IN (?) AND run_at > ? AND state + 0 = ${stateNumber.scheduled} AND started_at IS NULL`,
      [schedules, hand.now],
    ),
  )
  const locked = yield* hand.lock(found.map(({ id }) => id))
  const doomed = locked.filter((row) => isUnbegun(row) && row.run_at > hand.now).map(({ id }) => id)
  if (doomed.length === 0) return
  for (const id of doomed) hand.remove(id)
  yield* wait(hand.session.run('DELETE FROM {occurrences} WHERE job_id IN (?)', [doomed]))
}

function isUnbegun({ state, started_at }: JobRow): boolean {
  return state === stateNumber.scheduled && started_at === null
}
