import type { JobRow } from './job-row.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import { stateNumber } from './tables.ts'

/** Takes occurrences back that wait for their time and were never begun, as if they had not been stored. */
export async function withdraw(hand: JobsInHand, schedules: readonly string[]): Promise<void> {
  const found = await hand.session.all<{ id: string }>(
    `SELECT id FROM {jobs by jobs_recurring}
     WHERE schedule IN (?) AND run_at > ? AND state + 0 = ${stateNumber.scheduled} AND started_at IS NULL`,
    [schedules, hand.now],
  )
  const locked = await hand.lock(found.map(({ id }) => id))
  const doomed = locked.filter((row) => isUnbegun(row) && row.run_at > hand.now).map(({ id }) => id)
  if (doomed.length === 0) return
  for (const id of doomed) hand.remove(id)
  await hand.session.run('DELETE FROM {occurrences} WHERE job_id IN (?)', [doomed])
}

function isUnbegun({ state, started_at }: JobRow): boolean {
  return state === stateNumber.scheduled && started_at === null
}
