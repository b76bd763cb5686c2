import type { JobNumbers } from '../../../queue/contract/store.ts'
import type { Jobs } from '../../../queue/rules/jobs/jobs.ts'
import type { Immediate } from '../guarded.ts'

export class MemoryNumbers implements Immediate<JobNumbers> {
  readonly #jobs: Jobs
  #next = 1

  constructor(jobs: Jobs) {
    this.#jobs = jobs
  }

  get next(): number {
    return this.#next
  }

  /** From now on, no number below this one is assigned. */
  startFrom(next: number): void {
    this.#next = Math.max(this.#next, next)
  }

  reserve(count: number): number {
    const first = this.#next
    this.#next += count
    return first
  }

  assign(ids: readonly string[]): readonly (number | null)[] {
    return this.#jobs.numbersOf(ids, () => this.#next++)
  }

  find(numbers: readonly number[]): readonly (string | null)[] {
    return numbers.map((number) => this.#jobs.byNumber(number)?.envelope.id ?? null)
  }
}
