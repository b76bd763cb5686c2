import { type JobState, jobStates, zeroCounts } from '../../contract/job-state.ts'
import type { JobCount } from '../../contract/store.ts'

/** How many jobs are in each state, by queue and job. Updated on every move, never counted. */
export class Counters {
  readonly #groups = new Map<string, Map<string, Record<JobState, number>>>()
  /** The queues in which each job has jobs. */
  readonly #queues = new Map<string, Set<string>>()
  readonly #sum = zeroCounts()

  add(queue: string, job: string, state: JobState, change: 1 | -1): void {
    const jobs = this.#groups.get(queue) ?? new Map<string, Record<JobState, number>>()
    const counts = jobs.get(job) ?? zeroCounts()
    counts[state] += change
    this.#sum[state] += change
    if (!jobs.has(job)) this.#queues.set(job, (this.#queues.get(job) ?? new Set()).add(queue))
    this.#groups.set(queue, jobs.set(job, counts))
    if (change < 0 && counts[state] === 0) this.#dropWhenEmpty(queue, job, counts)
  }

  all(): readonly JobCount[] {
    return [...this.#groups].flatMap(([queue, jobs]) => [...jobs].map(([job, counts]) => ({ queue, job, counts: { ...counts } })))
  }

  /** Counts for one queue, one job, or one job in one queue. */
  some(queue: string | undefined, job: string | undefined): readonly JobCount[] {
    const queues = queue === undefined ? this.#queuesOf(job as string) : [queue]
    return [...queues].flatMap((each) => {
      const jobs = this.#groups.get(each) ?? new Map<string, Record<JobState, number>>()
      const meant = job === undefined ? [...jobs.keys()] : [job]
      return meant.flatMap((name) => {
        const counts = jobs.get(name)
        return counts === undefined ? [] : [{ queue: each, job: name, counts: { ...counts } }]
      })
    })
  }

  together(): JobCount {
    return { queue: '', job: '', counts: { ...this.#sum } }
  }

  #queuesOf(job: string): Iterable<string> {
    return this.#queues.get(job) ?? []
  }

  /** Names come and go, for example a queue per customer, so a group without jobs must not stay forever. */
  #dropWhenEmpty(queue: string, job: string, counts: Record<JobState, number>): void {
    if (jobStates.some((state) => counts[state] > 0)) return
    const jobs = this.#groups.get(queue)
    jobs?.delete(job)
    if (jobs?.size === 0) this.#groups.delete(queue)
    const queues = this.#queues.get(job)
    queues?.delete(queue)
    if (queues?.size === 0) this.#queues.delete(job)
  }
}
