import type { StoredJob } from './job.ts'

const tidyAbove = 1_024

/** All stored jobs in order of arrival, to be read from the newest. */
export class Arrivals {
  #jobs: StoredJob[] = []
  #removed = 0

  add(job: StoredJob): void {
    this.#jobs.push(job)
  }

  /** Leaves a hole. The list is compacted once half of it is holes, so the cost of a removal does not depend on its length. */
  remove(job: StoredJob): void {
    job.removed = true
    this.#removed++
    if (this.#removed < tidyAbove || this.#removed * 2 < this.#jobs.length) return
    this.#jobs = this.#jobs.filter((candidate) => !candidate.removed)
    this.#removed = 0
  }

  /** Newest first, starting with the one that arrived just before `arrival`. */
  *before(arrival: number): Iterable<StoredJob> {
    for (let index = this.#firstFrom(arrival) - 1; index >= 0; index--) {
      const job = this.#jobs[index] as StoredJob
      if (!job.removed) yield job
    }
  }

  /** Oldest first, starting with the one that arrived just after `arrival`. */
  *after(arrival: number): Iterable<StoredJob> {
    const jobs = this.#jobs
    for (let index = this.#firstFrom(arrival + 1); index < jobs.length; index++) {
      const job = jobs[index] as StoredJob
      if (!job.removed) yield job
    }
  }

  #firstFrom(arrival: number): number {
    let low = 0
    let high = this.#jobs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#jobs[middle] as StoredJob).arrival < arrival) low = middle + 1
      else high = middle
    }
    return low
  }
}
