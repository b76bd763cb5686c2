import type { JobRow } from './job-row.ts'
import type { JobsInHand } from './jobs-in-hand.ts'
import { stateNumber } from './tables.ts'

/** The part of workflows that has a word where jobs are withdrawn. */
export interface LinkedWithdrawing {
  /** Before linked jobs are deleted that have not ended, as if they had never been there. */
  withdrawn(hand: JobsInHand, jobs: readonly JobRow[]): Promise<void>
}

/** Takes occurrences back. */
export class Withdrawing {
  readonly #linked: LinkedWithdrawing

  constructor(linked: LinkedWithdrawing) {
    this.#linked = linked
  }

  /** What waits for its time and was never begun, as if it had not been stored. */
  async withdraw(hand: JobsInHand, schedules: readonly string[]): Promise<void> {
    const found = await hand.session.all<{ id: string }>(
      `SELECT id FROM {jobs}
       WHERE schedule IN (?) AND state = ${stateNumber.scheduled} AND run_at > ? AND started_at IS NULL`,
      [schedules, hand.now],
    )
    const locked = await hand.lock(found.map(({ id }) => id))
    const doomed = locked.filter((row) => isUnbegun(row) && row.run_at > hand.now)
    if (doomed.length === 0) return
    const inWorkflows = doomed.filter(({ linked }) => linked === 1)
    if (inWorkflows.length > 0) await this.#linked.withdrawn(hand, inWorkflows)
    for (const { id } of doomed) hand.remove(id)
    await hand.session.run('DELETE FROM {occurrences} WHERE job_id IN (?)', [doomed.map(({ id }) => id)])
  }
}

function isUnbegun({ state, started_at }: JobRow): boolean {
  return state === stateNumber.scheduled && started_at === null
}
