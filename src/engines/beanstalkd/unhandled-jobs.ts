import type { Logger } from '../../core/logger.ts'

const mostNames = 1_000

/** Counts how often jobs that no worker of this program handles were put back. */
export class UnhandledJobs {
  readonly #counts = new Map<string, number>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  add(job: string): void {
    const before = this.#counts.get(job)
    if (before === undefined && this.#counts.size >= mostNames) return
    this.#counts.set(job, (before ?? 0) + 1)
    if (before !== undefined) return
    const message = `This worker does not handle "${job}", and put one back into the queue for others. Workers that handle different jobs should have separate queues.`
    this.#logger.warn(message)
  }
}
