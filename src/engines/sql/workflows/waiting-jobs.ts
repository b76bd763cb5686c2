import type { AttemptError } from '../../../queue/contract/contract.ts'
import { type JobRow, unleased, unresulted, withError } from '../rows/job-row.ts'
import type { LoadedJobs } from '../rows/loaded-jobs.ts'
import { stateNumber } from '../rows/tables.ts'
import type { Doom, Ending } from './loaded-waiters.ts'

/** What the handler of a job has left, while the job waits only for its children. */
export interface Left {
  readonly ending: Ending
  readonly result: string | null
  readonly seal: string | null
}

/** Makes a job wait. If it ran and is to run again, it gets its attempt back. */
export function block(hand: LoadedJobs, row: JobRow, left: Left | null): void {
  const givenBack = left === null && row.state === stateNumber.running ? 1 : 0
  const attempts = row.attempts - givenBack
  hand.change(row.id, {
    ...unleased,
    state: stateNumber.blocked,
    result: left?.result ?? null,
    seal: left?.seal ?? null,
    attempts,
  })
  const longestMs = hand.waiters.get(row.id)?.longest_wait_ms ?? 0
  const ending = left === null ? null : JSON.stringify(left.ending)
  hand.waiters.change(row.id, { gives_up_at: hand.now + longestMs, ending })
}

/** The job runs when it is due. */
export function unblock(hand: LoadedJobs, row: JobRow): void {
  const attempts = row.attempts - (row.state === stateNumber.running ? 1 : 0)
  const state = row.run_at > hand.now ? stateNumber.scheduled : stateNumber.ready
  hand.change(row.id, { ...unleased, state, attempts })
}

/** Ends a job because of what it waited for. */
export function endFor(hand: LoadedJobs, row: JobRow, { isSkipped, why }: Doom): void {
  const end = { ...unleased, finished_at: hand.now, ...unresulted }
  if (isSkipped) {
    hand.change(row.id, { ...end, state: stateNumber.skipped, reason: why })
    return
  }
  const error: AttemptError = { attempt: row.attempts, at: hand.now, message: why }
  hand.change(row.id, { ...end, state: stateNumber.dead, reason: 'dependency', errors: withError(row.errors, error) })
}
