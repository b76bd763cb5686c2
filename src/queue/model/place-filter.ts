import type { JobState } from '../contract/job-state.ts'
import type { JobFilter } from '../contract/store.ts'

interface Place {
  readonly queue: string
  readonly job: string
  readonly group: string | null
}

/** Whether a job is in the state and place that a filter names. Its workflow and its tags are checked separately. */
export function isInPlace(
  state: JobState,
  { queue, job, group }: Place,
  filter: Pick<JobFilter, 'state' | 'queue' | 'job' | 'group'>,
): boolean {
  return (
    (filter.state === undefined || filter.state === state) &&
    (filter.queue === undefined || filter.queue === queue) &&
    (filter.job === undefined || filter.job === job) &&
    (filter.group === undefined || filter.group === group)
  )
}
