import type { StoredJob } from './job.ts'

const tidyAbove = 1_024

/** Every stored job in the order in which it came, to be read from the newest. */
export class Arrivals {
  #jobs: StoredJob[] = []
  #removed = 0

  add(job: StoredJob): void {
    this.#jobs.push(job)
  }

  /** Leaves a hole; when half of the list are holes it is written anew, so a removal costs the same however long the list is. */
  remove(job: StoredJob): void {
    job.removed = true
    this.#removed++
    if (this.#removed < tidyAbove || this.#removed * 2 < this.#jobs.length) return
    this.#jobs = this.#jobs.filter((candidate) => !candidate.removed)
    this.#removed = 0
  }

  /** Newest first, from the one that came just before `arrival`. */
  *before(arrival: number): Iterable<StoredJob> {
    for (let index = this.#firstFrom(arrival) - 1; index >= 0; index--) {
      const job = this.#jobs[index] as StoredJob
      if (!job.removed) yield job
    }
  }

  /** Oldest first, from the one that came just after `arrival`. */
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
