import type { ClaimableJob, GroupLimits, Rate } from '../../../queue/contract/limits.ts'

type FlatJob = readonly [job: string, concurrency: number | null, rate?: Rate | null, group?: GroupLimits | null]

/** As one text, because thousands of objects are slow to pass to the database thread. */
export function flattenJobs(jobs: readonly ClaimableJob[]): string {
  return JSON.stringify(jobs.map(({ job, concurrency, rate, group }) => flatJob(job, concurrency, rate, group)))
}

function flatJob(job: string, concurrency: number | null, rate: Rate | null = null, group: GroupLimits | null = null): FlatJob {
  return rate === null && group === null ? [job, concurrency] : [job, concurrency, rate, group]
}

export function readJobs(flat: string): readonly ClaimableJob[] {
  return (JSON.parse(flat) as FlatJob[]).map(([job, concurrency, rate = null, group = null]) => ({
    job,
    concurrency,
    rate,
    group,
  }))
}
