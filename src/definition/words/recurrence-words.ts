import { type MisfireKind, type MisfireOptions, misfirePolicy } from '../../scheduling/misfire.ts'
import { refuse } from '../names.ts'
import { type DependencyOptions, dependenciesOf, type JobReference, referencedJobs } from '../policies/dependency.ts'
import { type Overlap, overlapProblem } from '../policies/overlap.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** Builder methods for scheduled runs that overlap, are late, or depend on others. */
export interface RecurrenceWords {
  /** What a scheduled run does while an earlier one is unfinished. Defaults to `skip`, or to `queue` with `misfire('all')`. */
  overlap(overlap: Overlap): this
  /** What happens to runs that were due while no worker was running; the default is `latest`. */
  misfire(kind: MisfireKind, options?: MisfireOptions): this
  /** When due at the same time as these jobs, this job is enqueued after them. It does not wait for them to finish. */
  after(...jobs: readonly (JobReference | readonly JobReference[])[]): this
  /** A scheduled run starts only once the most recent due runs of these jobs have succeeded. */
  dependsOn(...jobs: readonly JobReference[]): this
  dependsOn(...jobsAndOptions: readonly [...jobs: JobReference[], options: DependencyOptions]): this
  dependsOn(jobs: readonly JobReference[], options?: DependencyOptions): this
}

export const recurrenceWords = {
  overlap: (said, overlap: Overlap) => {
    refuse(subjectOf(said), [overlapProblem(overlap)])
    return { overlap }
  },
  misfire: (_, kind: MisfireKind, options?: MisfireOptions) => ({ misfire: misfirePolicy(kind, options) }),
  after: ({ job, after = [] }, ...jobs: readonly unknown[]) => ({
    after: [...new Set([...after, ...referencedJobs(job, 'after()', jobs.flat())])],
  }),
  dependsOn: ({ job, dependsOn = [] }, ...args: readonly unknown[]) => {
    const byJob = new Map([...dependsOn, ...dependenciesOf(job, args)].map((dependency) => [dependency.job, dependency]))
    return { dependsOn: [...byJob.values()] }
  },
} as const satisfies WordTable<RecurrenceWords>
