import type { Registry } from '../../../definition/registry.ts'
import type { ClaimableJob } from '../../../queue/contract/contract.ts'
import { type KeyPattern, keyTest } from '../../../queue/rules/claiming/key-pattern.ts'
import { ClaimableJobs } from '../../../worker/loop/claimable-jobs.ts'

interface KnownPattern {
  readonly version: number
  readonly jobs: readonly ClaimableJob[]
}

const mostPatterns = 1_000

/** The limits for claiming jobs: those of jobs that this program defines, and none for others. */
export class ClaimLimits {
  readonly #registry: Registry
  readonly #claimable = new ClaimableJobs(null)
  readonly #patterns = new Map<string, KnownPattern>()
  #defined: readonly ClaimableJob[] = []
  #byName = new Map<string, ClaimableJob>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** Returns the same list for the same pattern as long as the names, and so the `version`, are the same. */
  of(pattern: string, version: number, names: () => readonly string[]): readonly ClaimableJob[] {
    this.#learn()
    const known = this.#patterns.get(pattern)
    if (known?.version === version) return known.jobs
    const jobs = names().map((job) => this.#byName.get(job) ?? { job, concurrency: null })
    if (this.#patterns.size >= mostPatterns) this.#patterns.clear()
    this.#patterns.set(pattern, { version, jobs })
    return jobs
  }

  /** The jobs defined in this program that match. */
  ofDefined(pattern: string, keys: KeyPattern): readonly ClaimableJob[] {
    return this.of(pattern, 0, () => this.#defined.map(({ job }) => job).filter(keyTest(keys)))
  }

  /** The same for patterns that are asked for once, so that they are not remembered. */
  ofDefinedOnce(keys: KeyPattern): readonly ClaimableJob[] {
    this.#learn()
    if (this.#defined.length === 0) return []
    const isMeant = keyTest(keys)
    return this.#defined.filter(({ job }) => isMeant(job))
  }

  #learn(): void {
    const defined = this.#claimable.of(this.#registry.definitions())
    if (defined === this.#defined) return
    this.#defined = defined
    this.#byName = new Map(defined.map((job) => [job.job, job]))
    this.#patterns.clear()
  }
}
