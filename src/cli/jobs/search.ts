import type { JobState } from '../../queue/contract/job-state.ts'
import { writeTerm } from '../../server/dashboard/shared/filter.ts'
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

/** A pattern of `--job` is a search, like one in `--where`: no index finds it. */
export function isSearch({ where, job }: ChosenJobs): boolean {
  return where !== undefined || isPattern(job)
}

export function searchOf(chosen: ChosenJobs, now: number): JobSearch {
  const { state, queue, group, tag } = chosen
  const pattern = isPattern(chosen.job) ? writeTerm({ key: 'job', negated: false, values: [chosen.job] }) : undefined
  const job = pattern === undefined ? chosen.job : undefined
  const where = [pattern, chosen.where].filter((part) => part !== undefined).join(' ') || undefined
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
  return `searched the newest ${examined.toLocaleString('en')} jobs; --state, --job, --queue and --tag narrow it, --before continues`
}

function isPattern(job: string | undefined): job is string {
  return job?.includes('*') ?? false
}
