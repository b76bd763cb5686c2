import type { ClaimableJob } from '../backends/contract.ts'
import type { JobDefinition } from '../definition/definition.ts'

/** The jobs that a worker asks for, made anew only when the definitions are others: there may be very many. */
export class ClaimableJobs {
  readonly #only: ReadonlySet<string> | null
  #definitions: readonly JobDefinition[] = []
  #jobs: readonly ClaimableJob[] = []

  constructor(only: readonly string[] | null) {
    this.#only = only === null ? null : new Set(only)
  }

  of(definitions: readonly JobDefinition[]): readonly ClaimableJob[] {
    if (definitions === this.#definitions) return this.#jobs
    this.#definitions = definitions
    this.#jobs = definitions.filter(({ job, fields }) => fields.handler !== null && (this.#only?.has(job) ?? true)).map(claimable)
    return this.#jobs
  }
}

function claimable({ job, concurrency, fields: { rate, group } }: JobDefinition): ClaimableJob {
  const hasLimits = group !== null && (group.concurrency !== null || group.rate !== null)
  return { job, concurrency, rate, group: hasLimits ? { concurrency: group.concurrency, rate: group.rate } : null }
}
