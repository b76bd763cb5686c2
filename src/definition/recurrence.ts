import { type MisfireKind, type MisfireOptions, type MisfirePolicy, misfirePolicy } from '../scheduling/misfire.ts'
import { Frequency } from '../scheduling/saying/frequency.ts'
import { type Dependency, type DependencyOptions, dependenciesOf, type JobReference, referencedJobs } from './dependency.ts'
import { refuse } from './names.ts'
import { type Overlap, overlapProblem } from './overlap.ts'

/** What is said of scheduled runs beside when they are due. */
export interface RecurrenceFields {
  readonly overlap: Overlap | null
  readonly misfire: MisfirePolicy | null
  readonly after: readonly string[]
  readonly dependsOn: readonly Dependency[]
}

/** The words for scheduled runs: when they are due, and what becomes of one that is in another's way, late, or not the first. */
export abstract class Recurrence extends Frequency {
  #overlap: Overlap | null = null
  #misfire: MisfirePolicy | null = null
  readonly #after = new Set<string>()
  readonly #dependsOn = new Map<string, Dependency>()

  abstract readonly job: string

  /** What a scheduled run does while an earlier one has not ended; the default is `skip`, and `queue` with `misfire('all')`. */
  overlap(overlap: Overlap): this {
    this.beforeChange()
    refuse(`Job "${this.job}"`, [overlapProblem(overlap)])
    this.#overlap = overlap
    return this
  }

  /** What becomes of runs that were due while nobody was there; the default is `latest`. */
  misfire(kind: MisfireKind, options?: MisfireOptions): this {
    this.beforeChange()
    this.#misfire = misfirePolicy(kind, options)
    return this
  }

  /** Of runs that are due together, this one is enqueued after those of these jobs. It does not wait for their end. */
  after(...jobs: readonly (JobReference | readonly JobReference[])[]): this {
    this.beforeChange()
    for (const job of referencedJobs(this.job, 'after()', jobs.flat())) this.#after.add(job)
    return this
  }

  /** A scheduled run begins when the last runs of these jobs that were due have succeeded. */
  dependsOn(...jobs: readonly JobReference[]): this
  dependsOn(...jobsAndOptions: readonly [...jobs: JobReference[], options: DependencyOptions]): this
  dependsOn(jobs: readonly JobReference[], options?: DependencyOptions): this
  dependsOn(...args: readonly unknown[]): this {
    this.beforeChange()
    for (const dependency of dependenciesOf(this.job, args)) this.#dependsOn.set(dependency.job, dependency)
    return this
  }

  protected recurrence(): RecurrenceFields {
    return {
      overlap: this.#overlap,
      misfire: this.#misfire,
      after: [...this.#after],
      dependsOn: [...this.#dependsOn.values()],
    }
  }
}
