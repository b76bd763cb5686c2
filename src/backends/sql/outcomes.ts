import type { JobRow } from './job-row.ts'
import type { SqlSession } from './session.ts'
import { stateNumber } from './tables.ts'

/** How occurrences of schedules ended. It outlives their jobs, and is taken back when a job is put back. */
export class Outcomes {
  /** After the states of jobs of schedules have changed. */
  async write(session: SqlSession, jobs: readonly JobRow[]): Promise<void> {
    const rows = jobs.map(({ id, state, started_at, finished_at }) =>
      state >= stateNumber.succeeded
        ? { job_id: id, outcome: state, started_at, finished_at }
        : { job_id: id, outcome: null, started_at: null, finished_at: null },
    )
    await session.update('occurrences', ['job_id'], ['outcome', 'started_at', 'finished_at'], rows)
  }
}
