import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { AttemptError, DeadReason } from '../../queue/contract/failure.ts'
import { withError } from '../../queue/rules/jobs/job.ts'
import type { Property } from './connections/client.ts'
import type { Entity } from './connections/entity.ts'
import type { HeldJob, LockedJob } from './messages/held-jobs.ts'
import { type JobState, runAtProperty, stateProperties, toMessage } from './messages/message.ts'

export interface HandingBackDeps {
  readonly entityOf: (queue: string, priority: number) => Entity
  readonly clock: Clock
  readonly logger: Logger
  readonly maxDeliveryCount: number
}

/** Minimum time left on a lock before its message is replaced; if there is less, the lock is renewed first. */
const leastLockMs = 5_000
const longestDescription = 1_000

/**
 * Settles locked messages. If a job continues as another message, that one is stored first, so that the job is never missing; if
 * the lock turns out to be lost, the new message is cancelled. Each method returns false if the lock is lost.
 */
export class HandingBack {
  readonly #deps: HandingBackDeps

  constructor(deps: HandingBackDeps) {
    this.#deps = deps
  }

  async remove(job: LockedJob | HeldJob): Promise<boolean> {
    const begun = begunOf(job)
    if (begun !== null) return begun.entity.cancel(begun.number)
    return (await job.entity.complete(job.message)) || this.#wasOurs(job)
  }

  /** Abandons the message if the broker can return it immediately; otherwise replaces it with another message. */
  async putBack(job: LockedJob | HeldJob, state: JobState, delayMs: number, keepsTime = false): Promise<boolean> {
    const { deliveryCount = 0 } = job.message
    const now = this.#deps.clock.now()
    const mayAbandon = delayMs <= 0 && begunOf(job) === null && deliveryCount < Math.floor(this.#deps.maxDeliveryCount / 2)
    const time = keepsTime ? job.envelope.runAt : now + Math.max(delayMs, 0)
    if (!mayAbandon) return this.replace(job, { ...job.envelope, runAt: time }, state, now + Math.max(delayMs, 0))
    const properties = { ...stateProperties({ ...state, deliveries: deliveryCount + 1 }), ...runAtProperty(time) }
    return job.entity.abandon(job.message, properties)
  }

  /** Continues the job with this envelope, at this time. */
  async replace(job: LockedJob | HeldJob, envelope: Envelope, state: JobState, at: number): Promise<boolean> {
    if (!(await this.#hasTime(job))) return false
    const entity = this.#deps.entityOf(envelope.queue, envelope.priority)
    const copy = toMessage(envelope, { ...state, deliveries: 0, copy: job.state.copy + 1 })
    const [number] = await entity.schedule([copy], at)
    if (await this.remove(job)) return true
    if (number !== undefined) await entity.cancel(number)
    return false
  }

  /** Moves the job to the dead-letter queue, with the reason and all errors. */
  async bury(job: LockedJob | HeldJob, reason: DeadReason, error: AttemptError | null): Promise<boolean> {
    const errors = error === null ? job.state.errors : withError(job.state, error)
    const state = { ...job.state, errors, begun: null, dead: reason }
    // Messages cannot be sent to a dead-letter queue directly: the next claim moves it there.
    if (begunOf(job) !== null) return this.replace(job, job.envelope, state, this.#deps.clock.now())
    const { entity, message } = job
    const properties = { ...stateProperties(state), ...reasonProperties(reason, errors.at(-1)?.message ?? reason) }
    return (await entity.deadLetter(message, properties)) || this.#wasOurs(job)
  }

  /** Dead-letters a message that is not a job and so has no state. */
  async reject({ entity, message }: Pick<LockedJob, 'entity' | 'message'>, thrown: unknown): Promise<void> {
    this.#deps.logger.warn(
      `A message in the Service Bus queue ${entity.name} is not a job and was dead-lettered: ${messageOf(thrown)}`,
    )
    await entity.deadLetter(message, reasonProperties('rejected', messageOf(thrown)))
  }

  async #hasTime(job: LockedJob | HeldJob): Promise<boolean> {
    if (begunOf(job) !== null || job.lockedUntil - this.#deps.clock.now() >= leastLockMs) return true
    const lockedUntil = await job.entity.renew(job.message)
    if (lockedUntil === null) return false
    job.lockedUntil = lockedUntil
    return true
  }

  /**
   * The answer to a settlement can be lost, and the next attempt then finds no lock. A message that is gone before its lock has
   * expired was removed by the first attempt: nothing else could have removed it.
   */
  async #wasOurs({ entity, message, lockedUntil }: LockedJob): Promise<boolean> {
    if (message.sequenceNumber === undefined || this.#deps.clock.now() >= lockedUntil) return false
    const [found] = await entity.peek(1, message.sequenceNumber)
    return found?.sequenceNumber?.toString() !== message.sequenceNumber.toString()
  }
}

function begunOf(job: LockedJob | HeldJob): HeldJob['begun'] {
  return 'begun' in job ? job.begun : null
}

function reasonProperties(reason: string, description: string): Record<string, Property> {
  return { deadLetterReason: reason, deadLetterErrorDescription: description.slice(0, longestDescription) }
}
