import { type MisfireKind, type MisfireOptions, misfirePolicy } from '../../scheduling/misfire.ts'
import { refuse } from '../names.ts'
import { type DependencyOptions, dependenciesOf, type JobReference, referencedJobs } from '../policies/dependency.ts'
import { type Overlap, overlapProblem } from '../policies/overlap.ts'
import { subjectOf, type WordTable } from './word-table.ts'

/** What becomes of a scheduled run that is in another's way, late, or not the first. */
export interface RecurrenceWords {
  /** What a scheduled run does while an earlier one has not ended; the default is `skip`, and `queue` with `misfire('all')`. */
  overlap(overlap: Overlap): this
  /** What becomes of runs that were due while nobody was there; the default is `latest`. */
  misfire(kind: MisfireKind, options?: MisfireOptions): this
  /** Of runs that are due together, this one is enqueued after those of these jobs. It does not wait for their end. */
  after(...jobs: readonly (JobReference | readonly JobReference[])[]): this
  /** A scheduled run begins when the last runs of these jobs that were due have succeeded. */
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
