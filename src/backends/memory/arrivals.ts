import type { MemoryJob } from './job.ts'

const tidyAbove = 1_024

/** Every stored job in the order in which it came, to be read from the newest. */
export class Arrivals {
  #jobs: MemoryJob[] = []
  #removed = 0

  add(job: MemoryJob): void {
    this.#jobs.push(job)
  }

  /** Leaves a hole; when half of the list are holes it is written anew, so a removal costs the same however long the list is. */
  remove(job: MemoryJob): void {
    job.removed = true
    this.#removed++
    if (this.#removed < tidyAbove || this.#removed * 2 < this.#jobs.length) return
    this.#jobs = this.#jobs.filter((candidate) => !candidate.removed)
    this.#removed = 0
  }

  /** Newest first, from the one that came just before `arrival`. */
  *before(arrival: number): Iterable<MemoryJob> {
    for (let index = this.#firstFrom(arrival) - 1; index >= 0; index--) {
      const job = this.#jobs[index] as MemoryJob
      if (!job.removed) yield job
    }
  }

  #firstFrom(arrival: number): number {
    let low = 0
    let high = this.#jobs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#jobs[middle] as MemoryJob).arrival < arrival) low = middle + 1
      else high = middle
    }
    return low
  }
}
