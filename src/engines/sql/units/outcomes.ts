import { type Steps, wait } from '../../../core/answer.ts'
import { type JobRow, rowEnded } from '../rows/job-row.ts'
import type { SqlSession } from '../session.ts'

/**
 * Writes how occurrences of schedules ended, after the states of their jobs have changed. An outcome outlives its job, and is
 * cleared when the job is put back.
 */
export function* writeOutcomes(session: SqlSession, jobs: readonly JobRow[]): Steps<void> {
  const rows = jobs.map((job) =>
    rowEnded(job)
      ? { job_id: job.id, outcome: job.state, started_at: job.started_at, finished_at: job.finished_at }
      : { job_id: job.id, outcome: null, started_at: null, finished_at: null },
  )
  yield* wait(session.update('occurrences', ['job_id'], ['outcome', 'started_at', 'finished_at'], rows))
}
