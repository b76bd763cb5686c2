import type { JobState } from '../../queue/contract/job-state.ts'
import { type JobSearch, jobSearch, mostExamined } from '../../server/jobs/job-search.ts'
import { UsageError } from '../failure.ts'

/** How the command line selects jobs. */
export interface ChosenJobs {
  readonly state?: JobState
  readonly queue?: string
  readonly job?: string
  readonly group?: string
  readonly tag?: string
  /** In the filter language of the dashboard. */
  readonly where?: string
}

export const whereHelp = `only jobs that match a filter such as 'error:"refused" payload.order:777 since:24h' (searches the newest ${mostExamined})`

export function searchOf({ where, ...chosen }: ChosenJobs, now: number): JobSearch {
  const { state, queue, job, group, tag } = chosen
  const stored = {
    ...(state && { state }),
    ...(queue && { queue }),
    ...(job && { job }),
    ...(group && { group }),
    ...(tag && { tag }),
  }
  return jobSearch(where, stored, now, (problems) => {
    throw new UsageError(`--where: ${problems.map(({ message }) => message).join('; ')}`)
  })
}

/** Shown if a search did not cover all candidate jobs. */
export function examinedNote(examined: number): string {
  return `searched the newest ${examined.toLocaleString('en')} jobs; --state, --job, --queue and --tag narrow it, --before goes on`
}
