import { isAmong } from '../../core/text/name-pattern.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { ClaimableJob } from '../../queue/contract/contract.ts'

/** The jobs that a worker claims. The list is rebuilt only when the definitions change, because there may be very many. */
export class ClaimableJobs {
  readonly #only: readonly string[] | null
  #definitions: readonly JobDefinition[] = []
  #jobs: readonly ClaimableJob[] = []

  /** Names or patterns; null means all jobs. */
  constructor(only: readonly string[] | null) {
    this.#only = only
  }

  of(definitions: readonly JobDefinition[]): readonly ClaimableJob[] {
    if (definitions === this.#definitions) return this.#jobs
    this.#definitions = definitions
    this.#jobs = definitions.filter(({ job, fields }) => fields.handler !== null && isAmong(this.#only, job)).map(claimable)
    return this.#jobs
  }
}

function claimable({ job, concurrency, fields: { rate, group } }: JobDefinition): ClaimableJob {
  const hasLimits = group !== null && (group.concurrency !== null || group.rate !== null)
  return { job, concurrency, rate, group: hasLimits ? { concurrency: group.concurrency, rate: group.rate } : null }
}
