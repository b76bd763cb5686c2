const mostNames = 1_000

/** Counts how often jobs that no worker of this program handles were put back, by job key. */
export class UnhandledJobs {
  readonly #counts = new Map<string, number>()

  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** Whether it is the first one with this key. Of very many keys, some are not counted. */
  add(job: string): boolean {
    const before = this.#counts.get(job)
    if (before === undefined && this.#counts.size >= mostNames) return false
    this.#counts.set(job, (before ?? 0) + 1)
    return before === undefined
  }
}
