import type { Envelope } from '../../../envelope/envelope.ts'
import type { ClaimableJob, ClaimRules, Hold, LeaseRequest, QueueLimits, Rate } from '../../contract/contract.ts'
import { ClaimableMemo } from '../claiming/claimable.ts'
import { isPaused } from '../claiming/pausing.ts'
import type { StoredJob } from '../jobs/job.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Lane } from '../jobs/lanes.ts'
import { holdsOf } from './holds.ts'
import { rateScope } from './rate-scope.ts'
import { Rates } from './rates.ts'

/** How long to rely on a limit before checking it again: it may have been changed. */
const longestHoldMs = 60_000

type LanePlace = Pick<Lane, 'queue' | 'job' | 'priority'>

/** The state of a claim in progress. */
export interface ClaimState {
  readonly jobs: ReadonlyMap<string, ClaimableJob>
  readonly queueLimits: ReadonlyMap<string, QueueLimits>
  /** The queues to claim from; null means all. */
  readonly queues: ReadonlySet<string> | null
  readonly isOpen: (lane: LanePlace) => boolean
  /** The keys seen so far, and whether one of their jobs must run alone. */
  readonly alone: Map<string, boolean>
  readonly now: number
  /** When a rate that held something back allows the next claim. */
  nextTokenAt: number | null
}

/** Decides which jobs may start, by how many are running and how many have started recently. */
export class Limits {
  readonly #jobs: Jobs
  readonly rates: Rates
  /** Keys and queues with ready work that a limit held back. When one of their runs ends, workers should be woken. */
  readonly #reached: Set<string>
  readonly #claimable = new ClaimableMemo((jobs) => new Map(jobs.map((each) => [each.job, each])))

  constructor(jobs: Jobs, rates = new Rates(), reached = new Set<string>()) {
    this.#jobs = jobs
    this.rates = rates
    this.#reached = reached
  }

  /** Starts a claim. */
  begin(request: LeaseRequest, paused: ReadonlySet<string>, now: number): ClaimState {
    const queues = request.queues === null ? null : new Set(request.queues)
    const wanted = request.priority ?? null
    return {
      jobs: this.#claimable.of(request.jobs),
      queueLimits: queueMap(request),
      queues,
      isOpen: (lane) =>
        (queues === null || queues.has(lane.queue)) && (wanted === null || wanted === lane.priority) && !isPaused(paused, lane),
      alone: new Map(),
      now,
      nextTokenAt: null,
    }
  }

  /** Whether the first job of a requested lane may start now. */
  mayStart(lane: Lane, claim: ClaimState): boolean {
    return this.hasRoom(lane, claim) && (lane.groups === null || this.#groupMayStart(lane, claim.jobs.get(lane.job), claim))
  }

  /** Whether the limits of its key and its queue let a lane start a job. A job that is not named has no limits of its own. */
  hasRoom(lane: LanePlace, claim: ClaimState): boolean {
    if (!claim.isOpen(lane)) return false
    const job = claim.jobs.get(lane.job) ?? { job: lane.job, concurrency: null }
    return this.#keyMayStart(lane, job, claim) && this.#queueMayStart(lane, claim)
  }

  /** Takes the tokens for a job that starts. */
  take({ envelope }: StoredJob, { jobs, queueLimits, now }: ClaimState): void {
    const job = jobs.get(envelope.job)
    if (job?.rate) this.rates.take(rateScope.job(envelope.job), job.rate, now)
    const queueRate = queueLimits.get(envelope.queue)?.rate
    if (queueRate) this.rates.take(rateScope.queue(envelope.queue), queueRate, now)
    if (job?.group?.rate && envelope.group !== null)
      this.rates.take(rateScope.group(envelope.job, envelope.group), job.group.rate, now)
  }

  /** To be called when a run has ended. True if that may let another one start. */
  freed(envelope: Envelope): boolean {
    const ofKey = this.#reached.delete(rateScope.job(envelope.job))
    return this.#reached.delete(rateScope.queue(envelope.queue)) || ofKey
  }

  holds({ envelope }: StoredJob, rules: ClaimRules, now: number): readonly Hold[] {
    const { job, queue, group } = envelope
    const facts = {
      job,
      queue,
      group,
      isAlone: this.#runsAlone(job, null, () => true),
      runningOfKey: this.#jobs.runningOf(job),
      runningInQueue: this.#jobs.runningIn(queue),
      runningInGroup: group === null ? 0 : this.#jobs.lanes.groups.busyOf(job, group),
      logOf: (scope: string) => this.rates.logOf(scope),
      now,
    }
    return holdsOf(facts, rules)
  }

  #keyMayStart(lane: LanePlace, { job, concurrency, rate }: ClaimableJob, claim: ClaimState): boolean {
    const alone = claim.alone.get(job) ?? this.#runsAlone(job, claim.queues, claim.isOpen)
    claim.alone.set(job, alone)
    const limit = alone ? 1 : concurrency
    return this.#isBelow(limit, () => this.#jobs.runningOf(job), lane) && this.#hasToken(rateScope.job(job), rate, claim)
  }

  #queueMayStart(lane: LanePlace, claim: ClaimState): boolean {
    const limits = claim.queueLimits.get(lane.queue)
    if (limits === undefined) return true
    const isBelow = this.#isBelow(limits.concurrency, () => this.#jobs.runningIn(lane.queue), lane)
    return isBelow && this.#hasToken(rateScope.queue(lane.queue), limits.rate, claim)
  }

  /** Checks the group whose turn it is. Groups without tokens are taken out until one is found that has some. */
  #groupMayStart(lane: Lane, job: ClaimableJob | undefined, claim: ClaimState): boolean {
    const limits = job?.group
    for (let first = lane.groups?.first; first !== undefined; first = lane.groups?.first) {
      const { share } = first
      // All groups after it have at least as many running jobs.
      if (!this.#isBelow(limits?.concurrency, () => share.busy, lane)) return false
      const scope = rateScope.group(lane.job, share.group)
      if (this.#hasToken(scope, limits?.rate, claim)) return true
      const until = this.rates.nextAt(scope, limits?.rate as Rate, claim.now)
      this.#jobs.lanes.groups.hold(share, Math.min(until, claim.now + longestHoldMs))
    }
    return false
  }

  /** A job that must run alone makes its whole key run one at a time. */
  #runsAlone(job: string, queues: ReadonlySet<string> | null, isOpen: (lane: Lane) => boolean): boolean {
    for (const lane of this.#jobs.lanes.singleWithin(job, queues)) if (isOpen(lane)) return true
    return false
  }

  /** Counts running jobs only if there is a limit: for an engine that may be a round trip. */
  #isBelow(limit: number | null | undefined, running: () => number, { job, queue }: LanePlace): boolean {
    if (limit === null || limit === undefined || running() < limit) return true
    this.#reached.add(rateScope.job(job)).add(rateScope.queue(queue))
    return false
  }

  #hasToken(scope: string, rate: Rate | null | undefined, claim: ClaimState): boolean {
    if (rate === null || rate === undefined || this.rates.left(scope, rate, claim.now) > 0) return true
    const nextAt = this.rates.nextAt(scope, rate, claim.now)
    claim.nextTokenAt = Math.min(claim.nextTokenAt ?? nextAt, nextAt)
    return false
  }
}

function queueMap({ queueLimits = [] }: LeaseRequest): ReadonlyMap<string, QueueLimits> {
  return new Map(queueLimits.map((limits) => [limits.queue, limits]))
}
