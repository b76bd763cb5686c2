import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest } from '../../queue/contract/contract.ts'
import { type Rescue, rescueOf, rescueText } from '../../queue/rules/claiming/rescue.ts'
import { wantedTest } from '../../queue/rules/claiming/wanted-jobs.ts'
import { type BrokerMessage, readMessage, withAttemptError } from '../broker/message.ts'
import type { UnhandledJobs } from '../broker/unhandled-jobs.ts'
import {
  bury,
  deleteJob,
  isPutRefused,
  release,
  reserve,
  type ServerJob,
  type ServerStats,
  statsJob,
} from './connection/commands.ts'
import type { Link } from './connection/link.ts'
import type { Session } from './connection/session.ts'
import { type Copies, priOf, secondsOf } from './copies.ts'
import type { EndedJobs } from './ended-jobs.ts'
import type { HeldJob, HeldJobs } from './held-jobs.ts'
import type { IdleWaiter } from './idle-waiter.ts'
import type { TubeDirectory } from './tubes/tube-directory.ts'

export interface ClaimingDeps {
  readonly link: Link
  readonly tubes: TubeDirectory
  readonly held: HeldJobs
  readonly ended: EndedJobs
  readonly copies: Copies
  readonly waiter: IdleWaiter
  readonly unhandled: UnhandledJobs
  readonly clock: Clock
  readonly logger: Logger
}

/** A reserved job that has not been examined yet. */
export interface Candidate extends ServerJob {
  readonly session: Session
}

/** Maximum number of unsupported jobs that a claim puts back before it yields to other workers. */
const mostUnhandled = 50
/** How long a copy waits while another copy of the same job runs. */
const copyPauseSeconds = 1
/** How long to wait before the next claim if one found only unsupported jobs. */
const unhandledPauseMs = 100

/** Reserves jobs and filters out those that this worker must not run. */
export class Claiming {
  readonly #deps: ClaimingDeps
  #last: Promise<unknown> = Promise.resolve()
  #isBusy = false

  constructor(deps: ClaimingDeps) {
    this.#deps = deps
  }

  /** Claims run one after the other, because they share the connection's watch list. */
  lease(request: LeaseRequest): Promise<LeaseBatch> {
    const claimed = this.#last.then(() => this.#lease(request))
    this.#last = claimed.catch(() => {})
    return claimed
  }

  async #lease(request: LeaseRequest): Promise<LeaseBatch> {
    const { link, tubes, waiter, clock } = this.#deps
    if (request.limit <= 0 || (request.jobs.length === 0 && request.others == null)) return nothing
    const askedAt = clock.now()
    const session = await link.session()
    const watched = await tubes.of(request, session, this.#isBusy)
    if (watched.size === 0) return nothing
    const claim = new Claim(request, askedAt, this.#deps)
    await claim.sortOut(waiter.take(watched))
    const isDry = await this.#reserve(session, watched, claim)
    const wasBusy = this.#isBusy
    this.#isBusy = claim.leases.length > 0
    // New queues may have appeared that were not listed while jobs kept coming.
    if (isDry && wasBusy && !this.#isBusy && request.queues === null) return this.#lease(request)
    if (isDry && claim.unhandled === 0) waiter.arm(watched)
    const nextAt = isDry ? null : clock.now() + (this.#isBusy ? 0 : unhandledPauseMs)
    return { leases: claim.leases, nextAt: claim.isFull ? null : nextAt, cancelled: [] }
  }

  /** Returns true if there was nothing more to reserve. */
  async #reserve(session: Session, watched: ReadonlySet<string>, claim: Claim): Promise<boolean> {
    // Reserve a single job if the queue was idle; otherwise ask for all at once.
    let size = this.#isBusy ? claim.room : 1
    while (!claim.isFull) {
      if (claim.unhandled >= mostUnhandled) return false
      const count = Math.min(size, claim.room)
      const watching = session.watch(watched)
      const [found] = await Promise.all([reserveMany(session, count), watching])
      await claim.sortOut(found)
      if (found.length < count) return true
      size = claim.room
    }
    return false
  }
}

const nothing: LeaseBatch = { leases: [], nextAt: null, cancelled: [] }

async function reserveMany(session: Session, count: number): Promise<readonly Candidate[]> {
  const asked = await Promise.all(Array.from({ length: count }, () => reserve(session)))
  return asked.flatMap((job) => (job === null ? [] : [{ ...job, session }]))
}

/** One claim while it is being filled. */
class Claim {
  readonly leases: Lease[] = []
  readonly #request: LeaseRequest
  readonly #askedAt: number
  readonly #deps: ClaimingDeps
  readonly #isWanted: (envelope: Envelope) => boolean
  /** How many jobs it had to put back. */
  unhandled = 0

  constructor(request: LeaseRequest, askedAt: number, deps: ClaimingDeps) {
    this.#request = request
    this.#askedAt = askedAt
    this.#deps = deps
    // The tubes that it reserves from are those of its queues.
    this.#isWanted = wantedTest({ ...request, queues: null })
  }

  get room(): number {
    return this.#request.limit - this.leases.length
  }

  get isFull(): boolean {
    return this.room <= 0
  }

  async sortOut(candidates: readonly Candidate[]): Promise<void> {
    if (candidates.length === 0) return
    const sorted = await Promise.all(candidates.map((candidate) => this.#look(candidate)))
    for (const lease of sorted) if (lease !== null) this.leases.push(lease)
  }

  async #look(candidate: Candidate): Promise<Lease | null> {
    const stats = await statsJob(candidate.session, candidate.serverId)
    if (stats === null) return null
    const written = this.#read(candidate)
    if (written === null) return this.#buryAsItIs(candidate, stats.pri)
    const isReplayed = written.dead !== null && stats.kicks > 0
    const message = isReplayed ? revived(written) : written
    // A worker died before it could bury this copy. The copy is complete and only has to be buried.
    if (message.dead !== null) return this.#buryAsItIs(candidate, stats.pri)
    if (this.#deps.ended.has(message.envelope.id)) return this.#dropCopy(candidate, message)
    if (this.#deps.held.hasCopyOf(message.envelope.id, candidate.serverId)) return this.#deferCopy(candidate, message)
    const rescues = message.rescues + rescuesOf(stats)
    const held = { begun: message.begunBy !== null, amongOthers: !message.alone }
    const rescue = rescueOf(held, rescues, this.#request.maxRescues)
    if (rescue !== 'returned')
      return this.#giveUp(candidate, message, stats, rescue, rescueText(rescue, message.begunBy, rescues))
    if (!this.#isWanted(message.envelope)) return this.#putBack(candidate, message, stats)
    return this.#hold(candidate, message, stats, rescues)
  }

  #read({ body, serverId }: Candidate): BrokerMessage | null {
    try {
      return readMessage(body.toString(), this.#askedAt)
    } catch (thrown) {
      this.#deps.logger.error(`job ${serverId} of Beanstalkd is buried: ${messageOf(thrown)}`)
      return null
    }
  }

  async #buryAsItIs({ session, serverId }: Candidate, pri: number): Promise<null> {
    await bury(session, serverId, pri)
    return null
  }

  async #giveUp(
    candidate: Candidate,
    message: BrokerMessage,
    { ttr }: ServerStats,
    dead: Exclude<Rescue, 'returned'>,
    why: string,
  ): Promise<null> {
    const error = { attempt: message.attempts + 1, at: this.#askedAt, message: why }
    await this.#deps.copies.bury(candidate, { message: { ...withAttemptError(message, error), dead }, ttr })
    return null
  }

  /** What a crash has left of a job that has ended since. */
  async #dropCopy({ session, serverId }: Candidate, { envelope }: BrokerMessage): Promise<null> {
    this.#deps.logger.warn(`job ${envelope.id} was in Beanstalkd twice and has ended: its other copy is deleted`)
    await deleteJob(session, serverId)
    return null
  }

  /** Until the copy that runs has ended, or has to be tried again. */
  async #deferCopy({ session, serverId }: Candidate, message: BrokerMessage): Promise<null> {
    await release(session, serverId, priOf(message), copyPauseSeconds)
    return null
  }

  async #putBack({ session, serverId }: Candidate, message: BrokerMessage, { releases }: ServerStats): Promise<null> {
    this.unhandled++
    const { unhandled, logger } = this.#deps
    if (unhandled.add(message.envelope.job)) logger.warn(unhandledText(message.envelope.job))
    await release(session, serverId, priOf(message), unhandledDelay(releases))
    return null
  }

  async #hold(
    { session, serverId }: Candidate,
    message: BrokerMessage,
    stats: ServerStats,
    rescues: number,
  ): Promise<Lease | null> {
    const { owner, leaseMs, amongOthers = false } = this.#request
    const { held } = this.#deps
    const ttr = Math.max(stats.ttr, secondsOf(leaseMs))
    const job = held.add({ session, owner, serverId, message, rescues, ttr: stats.ttr })
    // The time to run and whether its owner holds it alone are stored in the job.
    const changed = { ...message, rescues, alone: !amongOthers }
    const isChanged = ttr > stats.ttr || message.alone !== changed.alone
    if (isChanged && !(await this.#replace(job, changed, ttr))) {
      held.remove(job)
      return null
    }
    const { envelope, attempts } = message
    return { token: job.token, envelope, attempt: attempts + 1, rescues, expiresAt: this.#askedAt + job.ttr * 1_000 }
  }

  /** Puts a changed copy in the place of the job. False if it was lost. A server that takes no more jobs lends it as it is. */
  async #replace(job: HeldJob, message: BrokerMessage, ttr: number): Promise<boolean> {
    const { held, copies } = this.#deps
    try {
      const copyId = await copies.keep(job, { message, ttr })
      if (copyId !== null) held.replace(job, copyId, message, ttr)
      return copyId !== null
    } catch (thrown) {
      if (isPutRefused(thrown)) return true
      throw thrown
    }
  }
}

/** A dead letter that was kicked gets all its attempts back and keeps its errors. */
function revived(message: BrokerMessage): BrokerMessage {
  return { ...message, attempts: 0, rescues: 0, begunBy: null, alone: false, dead: null }
}

/** Whenever a reserved job came back other than by a release or a bury, its owner had died or lost it. */
function rescuesOf({ reserves, releases, buries }: ServerStats): number {
  return Math.max(reserves - 1 - releases - buries, 0)
}

function unhandledText(job: string): string {
  return `This worker does not handle "${job}", and put one back into the queue for others. Workers that handle different jobs should have separate queues.`
}

const longestUnhandledDelay = 60

/** In seconds; grows with the number of times the job was put back. */
function unhandledDelay(releases: number): number {
  return Math.min(2 ** Math.min(releases, 6), longestUnhandledDelay)
}
