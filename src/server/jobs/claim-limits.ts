import type { Registry } from '../../definition/registry.ts'
import { type KeyPattern, keyTest } from '../../queue/claiming/key-pattern.ts'
import type { ClaimableJob } from '../../queue/contract/contract.ts'
import { ClaimableJobs } from '../../worker/loop/claimable-jobs.ts'

interface KnownPattern {
  readonly version: number
  readonly jobs: readonly ClaimableJob[]
}

const mostPatterns = 1_000

/** The limits under which jobs are claimed: those that this program knows of, and none for the jobs of others. */
export class ClaimLimits {
  readonly #registry: Registry
  readonly #claimable = new ClaimableJobs(null)
  readonly #patterns = new Map<string, KnownPattern>()
  #defined: readonly ClaimableJob[] = []
  #byName = new Map<string, ClaimableJob>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** The same list for the same pattern as long as the names are the same: `version` tells. */
  of(pattern: string, version: number, names: () => readonly string[]): readonly ClaimableJob[] {
    this.#learn()
    const known = this.#patterns.get(pattern)
    if (known?.version === version) return known.jobs
    const jobs = names().map((job) => this.#byName.get(job) ?? { job, concurrency: null })
    if (this.#patterns.size >= mostPatterns) this.#patterns.clear()
    this.#patterns.set(pattern, { version, jobs })
    return jobs
  }

  /** Those of the jobs that this program knows of that pass. */
  ofDefined(pattern: string, keys: KeyPattern): readonly ClaimableJob[] {
    return this.of(pattern, 0, () => this.#defined.map(({ job }) => job).filter(keyTest(keys)))
  }

  #learn(): void {
    const defined = this.#claimable.of(this.#registry.definitions())
    if (defined === this.#defined) return
    this.#defined = defined
    this.#byName = new Map(defined.map((job) => [job.job, job]))
    this.#patterns.clear()
  }
}
