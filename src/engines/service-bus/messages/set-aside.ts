import type { Logger } from '../../../core/logger.ts'
import type { Clock, Timer } from '../../../core/time/clock.ts'
import { UnhandledJobs } from '../../broker/unhandled-jobs.ts'
import type { HandingBack } from '../handing-back.ts'
import type { LockedJob } from './held-jobs.ts'

/** How long other workers of this program may claim a message that its receiver does not want. */
const keptMs = 1_000
const firstDelayMs = 5_000
const longestDelayMs = 300_000

export interface SetAsideDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly back: HandingBack
}

/**
 * Messages that no worker asked for: a broker delivers whatever is first. They are put back with a growing delay, so that they do
 * not return at once, and without using up their deliveries.
 */
export class SetAside {
  readonly #deps: SetAsideDeps
  readonly #jobs = new Map<LockedJob, Timer>()
  readonly #returning = new Set<Promise<void>>()
  readonly #unhandled = new UnhandledJobs()

  constructor(deps: SetAsideDeps) {
    this.#deps = deps
  }

  add(job: LockedJob): void {
    this.#jobs.set(
      job,
      this.#deps.clock.timer(keptMs, () => this.#return(job, false), { unref: true }),
    )
  }

  /** Removes and returns those that are wanted after all. */
  take(isWanted: (job: LockedJob) => boolean, limit: number): readonly LockedJob[] {
    const taken = [...this.#jobs.keys()].filter(isWanted).slice(0, limit)
    for (const job of taken) this.#forget(job)
    return taken
  }

  /** Returns them without a delay, so that other programs can receive them. */
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
      // Its lock expires by itself.
      .catch((thrown: unknown) => this.#deps.logger.debug(`A message could not be given back: ${String(thrown)}`))
      .finally(() => this.#returning.delete(returning))
    this.#returning.add(returning)
  }

  #forget(job: LockedJob): void {
    this.#jobs.get(job)?.cancel()
    this.#jobs.delete(job)
  }

  #tell({ envelope, entity }: LockedJob): void {
    if (!this.#unhandled.add(envelope.job)) return
    this.#deps.logger.warn(
      `Job "${envelope.job}" of the Service Bus queue ${entity.name} is for other workers than those of this program; it is put back with a delay. Give such jobs a queue of their own.`,
    )
  }
}
