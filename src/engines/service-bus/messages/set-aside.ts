import type { Logger } from '../../../core/logger.ts'
import type { Clock, Timer } from '../../../core/time/clock.ts'
import type { HandingBack } from '../handing-back.ts'
import type { LockedJob } from './held-jobs.ts'

/** For so long another worker of this program may claim what the one that received it does not want. */
const keptMs = 1_000
const firstDelayMs = 5_000
const longestDelayMs = 300_000

export interface SetAsideDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly back: HandingBack
}

/**
 * Messages that came although nobody asked for them: a broker hands out what is first. They go back with a delay that grows, so
 * that they do not come again at once, and use up none of their deliveries.
 */
export class SetAside {
  readonly #deps: SetAsideDeps
  readonly #jobs = new Map<LockedJob, Timer>()
  readonly #returning = new Set<Promise<void>>()
  readonly #named = new Set<string>()

  constructor(deps: SetAsideDeps) {
    this.#deps = deps
  }

  add(job: LockedJob): void {
    this.#jobs.set(
      job,
      this.#deps.clock.timer(keptMs, () => this.#return(job, false), { unref: true }),
    )
  }

  /** Those that are wanted after all; they are no longer here. */
  take(isWanted: (job: LockedJob) => boolean, limit: number): readonly LockedJob[] {
    const taken = [...this.#jobs.keys()].filter(isWanted).slice(0, limit)
    for (const job of taken) this.#forget(job)
    return taken
  }

  /** Others can have them at once. */
  async close(): Promise<void> {
    for (const job of [...this.#jobs.keys()]) this.#return(job, true)
    await Promise.all(this.#returning)
  }

  #return(job: LockedJob, isClosing: boolean): void {
    this.#forget(job)
    if (!isClosing) this.#tell(job)
    const { state, rescues } = job
    const delayMs = isClosing ? 0 : Math.min(firstDelayMs * 2 ** state.unknown, longestDelayMs)
    const next = { ...state, rescues, unknown: isClosing ? state.unknown : Math.min(state.unknown + 1, 16) }
    const returning = this.#deps.back
      .putBack(job, next, delayMs, true)
      .then(() => {})
      // Its lock ends by itself.
      .catch((thrown: unknown) => this.#deps.logger.debug(`A message could not be given back: ${String(thrown)}`))
      .finally(() => this.#returning.delete(returning))
    this.#returning.add(returning)
  }

  #forget(job: LockedJob): void {
    this.#jobs.get(job)?.cancel()
    this.#jobs.delete(job)
  }

  /** Once for each name. */
  #tell({ envelope, entity }: LockedJob): void {
    if (this.#named.has(envelope.job) || this.#named.size >= mostNames) return
    this.#named.add(envelope.job)
    this.#deps.logger.warn(
      `Job "${envelope.job}" of the Service Bus queue ${entity.name} is for other workers than those of this program; it is put back with a delay. Give such jobs a queue of their own.`,
    )
  }
}

const mostNames = 100
