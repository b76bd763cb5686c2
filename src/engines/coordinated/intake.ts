import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Lease, LeaseRequest, QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import { PausedQueues } from './paused-queues.ts'
import { asCarried } from './routing.ts'

export interface IntakeDeps {
  readonly broker: QueueBackend
  readonly store: WholeBackend
  readonly clock: Clock
  readonly logger: Logger
}

/** Which claim jobs are taken for. */
export type IntakeRequest = Pick<LeaseRequest, 'queues' | 'limit' | 'owner'>

export interface IntakeReport {
  /** When the broker is to be asked again; null where it wakes whoever waits for it. */
  readonly nextAt: number | null
  /** Why nothing could be taken, where that failed. */
  readonly failure: unknown
}

/** So long a message is held while its job is stored: not longer than brokers hold one by default, so that it need not be changed. */
const holdMs = 10_000
/** What the store refuses by itself comes back after so long. */
const refusedPauseMs = 60_000

/** Nobody dies of a message that is only stored: however often its owners have died, it was no fault of the job. */
const anyJob = { jobs: [], others: [], leaseMs: holdMs, amongOthers: true, maxRescues: Number.MAX_SAFE_INTEGER } as const

const nothing: IntakeReport = { nextAt: null, failure: undefined }

/**
 * Takes jobs over from the broker: each is stored first and then removed there. Whoever dies in between leaves it in both, and it is
 * taken over again; the store knows it by its id, and it runs once.
 */
export class Intake {
  readonly #deps: IntakeDeps
  readonly #paused: PausedQueues

  constructor(deps: IntakeDeps) {
    this.#deps = deps
    this.#paused = new PausedQueues(deps.store.store, deps.clock)
  }

  /** Of any name: what this worker does not know waits in the store for one that does. Never throws. */
  async take(request: IntakeRequest): Promise<IntakeReport> {
    const { broker, clock } = this.#deps
    const { limit, owner } = request
    if (limit <= 0) return nothing
    try {
      const paused = await this.#paused.names()
      const queues = request.queues?.filter((queue) => !paused.includes(queue)) ?? null
      if (queues?.length === 0) return nothing
      const { leases, nextAt } = await broker.lease({ ...anyJob, exceptQueues: paused, queues, limit, owner })
      await this.#takeOver(leases)
      return { nextAt: leases.length === limit ? clock.now() : nextAt, failure: undefined }
    } catch (failure) {
      return { nextAt: null, failure }
    }
  }

  async #takeOver(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return
    try {
      await this.#store(leases)
    } catch (thrown) {
      if (isPassing(thrown) || leases.length === 1) {
        await this.#putBack(leases, isPassing(thrown) ? 0 : refusedPauseMs)
        throw thrown
      }
      await this.#takeOverOneByOne(leases)
      return
    }
    await this.#remove(leases)
  }

  /** One that the store cannot keep must not hold up the others. */
  async #takeOverOneByOne(leases: readonly Lease[]): Promise<void> {
    const { logger } = this.#deps
    const stored: Lease[] = []
    const refused: Lease[] = []
    let failure: unknown
    for (const lease of leases) {
      try {
        await this.#store([lease])
        stored.push(lease)
      } catch (thrown) {
        failure = thrown
        refused.push(lease)
        logger.error(`job ${lease.envelope.id} stays in the broker: the coordination store refuses it: ${messageOf(thrown)}`)
      }
    }
    await this.#remove(stored)
    await this.#putBack(refused, refusedPauseMs)
    if (stored.length === 0) throw failure
  }

  async #store(leases: readonly Lease[]): Promise<void> {
    await this.#deps.store.send(leases.map(({ envelope }) => asCarried(envelope)))
  }

  async #remove(leases: readonly Lease[]): Promise<void> {
    await this.#settle(leases.map(({ token }) => ({ token, kind: 'done', result: null, keep: false }) as const))
  }

  async #putBack(leases: readonly Lease[], delayMs: number): Promise<void> {
    await this.#settle(leases.map(({ token }) => ({ token, kind: 'snooze', delayMs }) as const))
  }

  /** Where it fails, the broker hands the messages out again by itself: those that are stored are known by their ids. */
  async #settle(settlements: Parameters<QueueBackend['settle']>[0]): Promise<void> {
    const { broker, logger } = this.#deps
    if (settlements.length === 0) return
    try {
      await broker.settle(settlements)
    } catch (thrown) {
      logger.warn(`${settlements.length} messages of the broker could not be settled, and come again: ${messageOf(thrown)}`)
    }
  }
}

/** Says nothing of the jobs that were to be stored. */
function isPassing(thrown: unknown): boolean {
  return thrown instanceof TreadleError && (thrown.code === 'DATABASE_UNREACHABLE' || thrown.code === 'DATABASE_BUSY')
}
