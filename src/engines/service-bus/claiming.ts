import type { Clock } from '../../core/time/clock.ts'
import type { Lease, LeaseBatch, LeaseRequest } from '../../queue/contract/contract.ts'
import { rescueOf, rescueText } from '../../queue/rules/claiming/rescue.ts'
import { wantedTest } from '../../queue/rules/claiming/wanted-jobs.ts'
import type { ReceivedMessage } from './connections/client.ts'
import type { Entity } from './connections/entity.ts'
import type { EntityNames } from './connections/entity-names.ts'
import type { HandingBack } from './handing-back.ts'
import type { HeldJob, HeldJobs, LockedJob } from './messages/held-jobs.ts'
import { readMessage, rescuesOf } from './messages/message.ts'
import type { SetAside } from './messages/set-aside.ts'
import { refuseLimits } from './refusals.ts'

export interface ClaimingDeps {
  readonly clock: Clock
  readonly names: EntityNames
  readonly entity: (name: string) => Entity
  readonly held: HeldJobs
  readonly back: HandingBack
  readonly aside: SetAside
}

/** Maximum number of rounds that yield only unwanted messages, before the worker has to claim again. */
const mostVainRounds = 4
/** The SDK gives the broker 200 ms to answer, which is enough for this many messages even on a busy machine. */
const largestReceive = 100

export class Claiming {
  readonly #deps: ClaimingDeps
  /** Where the next claim starts, so that no queue always comes first. */
  #turn = 0

  constructor(deps: ClaimingDeps) {
    this.#deps = deps
  }

  async claim(request: LeaseRequest): Promise<LeaseBatch> {
    refuseLimits(request)
    const { aside, held } = this.#deps
    const isMeant = wantedTest(request)
    const isWanted = ({ envelope }: LockedJob) => isMeant(envelope)
    const found: LockedJob[] = [...aside.take(isWanted, request.limit)]
    let mayBeMore = false
    if (request.jobs.length > 0 || request.others != null) {
      for (const names of this.#deps.names.byLevel(request.queues)) {
        if (found.length < request.limit) mayBeMore = (await this.#fill(names, found, request, isWanted)) || mayBeMore
      }
    }
    const leases = [...found].sort(byRank(request)).map((job) => this.#grant(job, request))
    return { leases, nextAt: mayBeMore ? this.#deps.clock.now() : held.nextExpiry, cancelled: [] }
  }

  /** Receives from these entities in turn. Returns whether there may be more. */
  async #fill(
    names: readonly string[],
    found: LockedJob[],
    request: LeaseRequest,
    isWanted: (job: LockedJob) => boolean,
  ): Promise<boolean> {
    const start = names.length === 0 ? 0 : this.#turn++ % names.length
    let entities = [...names.slice(start), ...names.slice(0, start)].map((name) => this.#deps.entity(name))
    for (let vainRounds = 0; vainRounds < mostVainRounds && entities.length > 0; ) {
      const before = found.length
      const room = request.limit - found.length
      if (room === 0) return true
      const asked = entities.slice(0, room)
      const share = Math.min(Math.floor(room / asked.length), largestReceive)
      const batches = await Promise.all(asked.map((entity) => entity.receive(share)))
      const jobs = await Promise.all(
        asked.flatMap((entity, index) => (batches[index] ?? []).map((each) => this.#read(entity, each, request))),
      )
      for (const job of jobs) {
        if (job === undefined) continue
        if (isWanted(job)) found.push(job)
        else this.#deps.aside.add(job)
      }
      if (found.length === before) vainRounds++
      entities = [...entities.slice(room), ...asked.filter((_, index) => batches[index]?.length === share)]
    }
    return entities.length > 0
  }

  /** Undefined if it must not run; it has then been moved to the dead-letter queue. */
  async #read(
    entity: Entity,
    message: ReceivedMessage,
    { maxRescues, amongOthers = false }: LeaseRequest,
  ): Promise<LockedJob | undefined> {
    const { clock, back } = this.#deps
    const now = clock.now()
    let job: LockedJob
    try {
      const { envelope, state } = readMessage(message, now)
      const lockedUntil = message.lockedUntilUtc?.getTime() ?? now
      job = { entity, message, envelope, state, rescues: rescuesOf(message, state), lockedUntil }
    } catch (thrown) {
      await back.reject({ entity, message }, thrown)
      return undefined
    }
    const { state, rescues } = job
    // What an owner that died had held besides is not known: as if it had held as much as this one does. MaxDeliveryCount limits
    // how often a job is returned that was held among others.
    const rescue = rescueOf({ begun: state.begun !== null, amongOthers }, rescues, maxRescues)
    const error = (message: string) => ({ attempt: state.attempts + 1, at: now, message })
    if (state.dead !== null) await back.bury(job, state.dead, null)
    else if (rescue === 'returned') return job
    else await back.bury(job, rescue, error(rescueText(rescue, state.begun, rescues)))
    return undefined
  }

  #grant(job: LockedJob, { leaseMs, owner, amongOthers = false }: LeaseRequest): Lease {
    const { clock, held } = this.#deps
    const token = job.message.lockToken ?? ''
    const expiresAt = clock.now() + leaseMs
    const granted: HeldJob = { ...job, token, owner, expiresAt, amongOthers, begun: null }
    held.add(granted)
    return { token, envelope: job.envelope, attempt: job.state.attempts + 1, rescues: job.rescues, expiresAt }
  }
}

/** Puts the best of the received jobs first; those still in the broker may be better. */
function byRank({ ageingMs = null }: LeaseRequest): (a: LockedJob, b: LockedJob) => number {
  const ageing = ({ envelope }: LockedJob) => envelope.runAt - envelope.priority * (ageingMs ?? 0)
  return (a, b) =>
    (ageingMs === null
      ? b.envelope.priority - a.envelope.priority || a.envelope.runAt - b.envelope.runAt
      : ageing(a) - ageing(b)) || Number(a.message.sequenceNumber) - Number(b.message.sequenceNumber)
}
