import type { JobNumbers } from '../../../queue/contract/store.ts'
import type { Jobs } from '../../../queue/rules/jobs/jobs.ts'

export interface MemoryNumbersParts {
  readonly jobs: Jobs
  /** Throws when the backend is closed. */
  readonly checkOpen: () => void
}

export class MemoryNumbers implements JobNumbers {
  readonly #parts: MemoryNumbersParts
  #next = 1

  constructor(parts: MemoryNumbersParts) {
    this.#parts = parts
  }

  get next(): number {
    return this.#next
  }

  /** From now on, no number below this one is assigned. */
  startFrom(next: number): void {
    this.#next = Math.max(this.#next, next)
  }

  async reserve(count: number): Promise<number> {
    this.#parts.checkOpen()
    const first = this.#next
    this.#next += count
    return first
  }

  async assign(ids: readonly string[]): Promise<readonly (number | null)[]> {
    this.#parts.checkOpen()
    const { jobs } = this.#parts
    return ids.map((id) => {
      const job = jobs.get(id)
      if (job === undefined) return null
      if (job.envelope.number === null) jobs.giveNumber(job, this.#next++)
      return job.envelope.number
    })
  }

  async find(numbers: readonly number[]): Promise<readonly (string | null)[]> {
    this.#parts.checkOpen()
    return numbers.map((number) => this.#parts.jobs.byNumber(number)?.envelope.id ?? null)
  }
}
