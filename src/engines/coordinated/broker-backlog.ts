import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { type BacklogCount, jobInBroker } from '../../queue/contract/backlog.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { zeroCounts } from '../../queue/contract/job-state.ts'
import type { CountOptions, JobCount } from '../../queue/contract/store.ts'
import type { Intake } from './intake.ts'

export interface BrokerBacklogDeps {
  readonly broker: QueueBackend
  readonly intake: Intake
  /** Maximum number of jobs taken over at once. */
  readonly largestClaim: number
  readonly logger: Logger
}

/**
 * A backlog up to this size is moved into the store when somebody asks about jobs, so that they are listed, found and changed
 * there. A larger one stays in the broker, where only its size is known.
 */
const mostShown = 1_000
const owner = 'coordination'

/** The jobs that are still in the broker. */
export class BrokerBacklog {
  readonly #deps: BrokerBacklogDeps
  #showing: Promise<void> | undefined
  #isReported = false

  constructor(deps: BrokerBacklogDeps) {
    this.#deps = deps
  }

  /** By queue, and without names. Nothing if the broker does not answer: what the store counts is shown all the same. */
  async counts({ queue, job }: CountOptions): Promise<readonly JobCount[]> {
    if (job !== undefined) return []
    try {
      return (await this.#counts(queue ?? null)).map(asJobCount)
    } catch (thrown) {
      this.#report(thrown)
      return []
    }
  }

  /** Moves the backlog into the store if it is small. Concurrent calls share one pass. Never throws. */
  show(): Promise<void> {
    this.#showing ??= this.#show().finally(() => {
      this.#showing = undefined
    })
    return this.#showing
  }

  /** Moves the whole backlog into the store, as far as it is ready, with the jobs of paused queues. */
  async takeAll(queue: string | null): Promise<void> {
    const counts = await this.#counts(queue)
    await this.#take(queue, readyIn(counts))
  }

  /** Whether a job that the store does not know may be in the broker, or on its way from there. */
  async mayHold(): Promise<boolean> {
    if (this.#deps.broker.backlog === undefined) return true
    return (await this.#counts(null)).some(({ ready, scheduled, running }) => ready + scheduled + running > 0)
  }

  /** One text for each dead letter: they stay in the broker. */
  async deadLetters(queue: string | null): Promise<readonly string[]> {
    return (await this.#counts(queue)).flatMap(({ queue: name, dead }) =>
      Array.from({ length: dead }, (_, index) => `dead letter ${index + 1} of "${name}" in the broker`),
    )
  }

  async #show(): Promise<void> {
    try {
      const ready = readyIn(await this.#counts(null))
      if (ready <= mostShown) await this.#take(null, ready)
    } catch (thrown) {
      this.#report(thrown)
    }
  }

  /** At most as many as there were when it began, because others may be sending more all the time. */
  async #take(queue: string | null, count: number): Promise<void> {
    const { intake, largestClaim } = this.#deps
    const queues = queue === null ? null : [queue]
    for (let taken = 0; taken < count; ) {
      const limit = Math.min(count - taken, largestClaim)
      const { handedOver, failure } = await intake.take({ queues, limit, owner, includesPaused: true })
      if (failure !== undefined) throw failure
      if (handedOver === 0) return
      taken += handedOver
    }
  }

  async #counts(queue: string | null): Promise<readonly BacklogCount[]> {
    const counts = (await this.#deps.broker.backlog?.counts()) ?? []
    return queue === null ? counts : counts.filter((each) => each.queue === queue)
  }

  #report(thrown: unknown): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#deps.logger.warn(`the jobs in the broker are neither counted nor shown: ${messageOf(thrown)}`)
  }
}

function readyIn(counts: readonly BacklogCount[]): number {
  return counts.reduce((sum, { ready }) => sum + ready, 0)
}

function asJobCount({ queue, ready, scheduled, running, dead }: BacklogCount): JobCount {
  return { queue, job: jobInBroker, counts: { ...zeroCounts(), ready, scheduled, running, dead }, oldestReadyAt: null }
}
