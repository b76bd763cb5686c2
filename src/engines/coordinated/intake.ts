import { messageOf, TreadleError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Lease, LeaseRequest, QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import { asCarried } from './routing.ts'

export interface IntakeDeps {
  readonly broker: QueueBackend
  readonly store: WholeBackend
  readonly clock: Clock
  readonly logger: Logger
}

/** The claim that jobs are taken over for. */
export type IntakeRequest = Pick<LeaseRequest, 'queues' | 'limit' | 'owner'> & {
  /** Takes jobs of paused queues too. */
  readonly includesPaused?: true
}

export interface IntakeReport {
  /** When to ask the broker again; null if it wakes waiting workers itself. */
  readonly nextAt: number | null
  /** How many jobs the broker handed over. */
  readonly handedOver: number
  /** Why nothing could be taken over; undefined if that did not fail. */
  readonly failure: unknown
}

/**
 * How long to hold a message while its job is being stored. No longer than brokers hold one by default, so that it need not
 * be changed.
 */
const holdMs = 10_000
/** How long a message is put back if the store refuses its job for a reason that is not transient. */
const refusedPauseMs = 60_000

/**
 * Storing a message cannot kill a worker. So owners that died while holding it do not count against the job, however many there
 * were.
 */
const anyJob = { jobs: [], others: [], leaseMs: holdMs, amongOthers: true, maxRescues: Number.MAX_SAFE_INTEGER } as const

const nothing: IntakeReport = { nextAt: null, handedOver: 0, failure: undefined }

/**
 * Takes jobs over from the broker: it stores each one, then removes it from the broker. After a crash in between, the job is in
 * both and is taken over again. The store recognizes it by its id, so it runs only once.
 */
export class Intake {
  readonly #deps: IntakeDeps
  readonly #paused: PausedQueues

  constructor(deps: IntakeDeps) {
    this.#deps = deps
    this.#paused = new PausedQueues(deps.store.store, deps.clock)
  }

  /** Takes jobs of any name: those unknown to this worker wait in the store for one that knows them. Never throws. */
  async take(request: IntakeRequest): Promise<IntakeReport> {
    const { broker, clock } = this.#deps
    const { limit, owner } = request
    if (limit <= 0) return nothing
    try {
      const paused = request.includesPaused ? [] : await this.#paused.names()
      const queues = request.queues?.filter((queue) => !paused.includes(queue)) ?? null
      if (queues?.length === 0) return nothing
      const { leases, nextAt } = await broker.lease({ ...anyJob, exceptQueues: paused, queues, limit, owner })
      await this.#takeOver(leases)
      return { nextAt: leases.length === limit ? clock.now() : nextAt, handedOver: leases.length, failure: undefined }
    } catch (failure) {
      return { ...nothing, failure }
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

  /** A job that the store cannot keep must not hold up the others. */
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

  /** If this fails, the broker redelivers the messages. Those already stored are recognized by their ids. */
  async #settle(settlements: Parameters<QueueBackend['settle']>[0]): Promise<void> {
    const { broker, logger } = this.#deps
    if (settlements.length === 0) return
    try {
      await broker.settle(settlements)
    } catch (thrown) {
      logger.warn(
        `${settlements.length} messages of the broker could not be settled, and will be delivered again: ${messageOf(thrown)}`,
      )
    }
  }
}

/** Whether the failure is transient and has nothing to do with the jobs being stored. */
function isPassing(thrown: unknown): boolean {
  return thrown instanceof TreadleError && (thrown.code === 'DATABASE_UNREACHABLE' || thrown.code === 'DATABASE_BUSY')
}

/**
 * How long to cache the answer that no queue is paused. Jobs taken over in that time wait in the store, which never hands out
 * jobs of paused queues. While any queue is paused, the store is asked each time, so that a resumed queue starts without delay.
 */
const freshMs = 1_000

/** The paused queues, whose jobs stay in the broker. */
class PausedQueues {
  readonly #store: JobStore
  readonly #clock: Clock
  #names: readonly string[] = []
  #askAgainAt = Number.NEGATIVE_INFINITY

  constructor(store: JobStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  async names(): Promise<readonly string[]> {
    const now = this.#clock.now()
    if (now < this.#askAgainAt) return this.#names
    this.#names = (await this.#store.paused()).queues
    if (this.#names.length === 0) this.#askAgainAt = now + freshMs
    return this.#names
  }
}
