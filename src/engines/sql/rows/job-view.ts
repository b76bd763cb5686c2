import { jobStates } from '../../../queue/contract/job-state.ts'
import { stateNumber } from './tables.ts'

/** How an engine expresses what differs between engines. */
export interface ViewWords {
  /** An instant in milliseconds in readable form; null if there is none. */
  time(column: string): string
  /** The message of the last error in a JSON array of errors. */
  lastError(column: string): string
}

/**
 * A view of jobs for people who query them in SQL: states as words, times as timestamps, and the names of the queue and the job.
 * `state_code` is the number that the indexes use. Later versions only add columns, so existing queries keep working.
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
