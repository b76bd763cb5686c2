import { type JobState, jobStates, zeroCounts } from '../job-state.ts'
import type { JobCount } from '../store.ts'

/** How many jobs are in each state, by queue and job: kept with every move, never counted. */
export class Counters {
  readonly #groups = new Map<string, Map<string, Record<JobState, number>>>()

  add(queue: string, job: string, state: JobState, change: 1 | -1): void {
    const jobs = this.#groups.get(queue) ?? new Map<string, Record<JobState, number>>()
    const counts = jobs.get(job) ?? zeroCounts()
    counts[state] += change
    this.#groups.set(queue, jobs.set(job, counts))
    if (change < 0 && counts[state] === 0) this.#dropWhenEmpty(queue, job, counts)
  }

  all(): readonly JobCount[] {
    return [...this.#groups].flatMap(([queue, jobs]) => [...jobs].map(([job, counts]) => ({ queue, job, counts: { ...counts } })))
  }

  /** Names come and go (a queue for each customer, say): a group without jobs must not stay for ever. */
  #dropWhenEmpty(queue: string, job: string, counts: Record<JobState, number>): void {
    if (jobStates.some((state) => counts[state] > 0)) return
    const jobs = this.#groups.get(queue)
    jobs?.delete(job)
    if (jobs?.size === 0) this.#groups.delete(queue)
  }
}
