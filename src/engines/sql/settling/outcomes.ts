import { type Steps, wait } from '../../../core/answer.ts'
import type { JobRow } from '../rows/job-row.ts'
import { stateNumber } from '../rows/tables.ts'
import type { SqlSession } from '../session.ts'

/** How occurrences of schedules ended. An outcome outlives its job, and is cleared when the job is put back. */
export class Outcomes {
  /** Call this after the states of jobs of schedules have changed. */
  *write(session: SqlSession, jobs: readonly JobRow[]): Steps<void> {
    const rows = jobs.map(({ id, state, started_at, finished_at }) =>
      state >= stateNumber.succeeded
        ? { job_id: id, outcome: state, started_at, finished_at }
        : { job_id: id, outcome: null, started_at: null, finished_at: null },
    )
    yield* wait(session.update('occurrences', ['job_id'], ['outcome', 'started_at', 'finished_at'], rows))
  }
}
