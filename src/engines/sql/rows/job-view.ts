import { jobStates } from '../../../queue/contract/job-state.ts'
import { stateNumber } from './tables.ts'

/** How an engine says what is the same for all of them otherwise. */
export interface ViewWords {
  /** An instant in milliseconds as people read it, null where there is none. */
  time(column: string): string
  /** The message of the last error of a JSON array of them. */
  lastError(column: string): string
}

/**
 * Jobs for people who look at them in SQL: states as words, times as times, and the names of the queue and the job. `state_code` is the
 * number that indexes know. It only grows: a query of today is answered by later versions, too.
 */
export function jobView({ time, lastError }: ViewWords): string {
  const states = jobStates.map((state) => `WHEN ${stateNumber[state]} THEN '${state}'`).join(' ')
  return `SELECT jobs.id AS id, jobs.number AS number, lanes.job AS job, lanes.queue AS queue, lanes.priority AS priority,
  CASE jobs.state ${states} END AS state, jobs.state AS state_code, jobs.attempts AS attempts,
  CASE lanes.grouped WHEN 1 THEN jobs.grp END AS group_name, jobs.schedule AS schedule, jobs.owner AS worker, jobs.reason AS reason,
  ${lastError('jobs.errors')} AS error, ${time('jobs.created_at')} AS created_at, ${time('jobs.run_at')} AS run_at,
  ${time('jobs.started_at')} AS started_at, ${time('jobs.lease_until')} AS lease_until, ${time('jobs.finished_at')} AS finished_at
FROM {jobs} AS jobs LEFT JOIN {lanes} AS lanes ON lanes.lane = jobs.lane`
}
