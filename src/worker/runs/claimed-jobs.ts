import { type Clock, nextTurn, stopwatchOf } from '../../core/time/clock.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import { largestClaimOf } from '../../queue/backend/largest-claim.ts'
import type { Lease } from '../../queue/contract/contract.ts'
import { type ClaimedJob, claimedJob } from './claimed-job.ts'
import { LeaseBuffer } from './lease-buffer.ts'
import { type ProcessMember, thisProcess } from './process-runs.ts'
import { RescuedJobs } from './rescued-jobs.ts'
import { Runs, type RunsDeps, type RunsOptions } from './runs.ts'
import type { StartRates } from './start-rates.ts'
import { UnsettledLimit } from './unsettled-limit.ts'

export interface ClaimedJobsOptions extends Omit<RunsOptions, 'isLastChance'> {
  readonly concurrency: number
  readonly maxRescues: number
  /** Rate limits of the jobs that it starts. */
  readonly rates: StartRates
  /** Maximum number of jobs that may run at once now. */
  readonly allowed: () => number
  readonly isStopping: () => boolean
  /** Called when more jobs can be claimed. */
  readonly onFree: () => void
  /** Called when a claimed job is given up without a run. */
  readonly onGone: () => void
}

/** How long to snooze a job whose previous run in this worker must end first. */
const twinPauseMs = 1_000
/** How long to snooze a rescued job for which there was no room. */
const rescuedPauseMs = 10_000
/** Maximum number of jobs to start before yielding to the event loop. */
const startsPerTurn = 200

/**
 * The jobs that a worker has claimed: those that wait for a free slot, those that run, and those whose outcome is being written.
 */
export class ClaimedJobs {
  readonly #options: ClaimedJobsOptions
  readonly #runs: Runs
  readonly #buffer: LeaseBuffer
  readonly #rescued: RescuedJobs
  readonly #unsettled: UnsettledLimit
  readonly #largestClaim: number
  readonly #clock: Clock
  readonly #member: ProcessMember = {
    wantsToBeAlone: () => this.#isLastChance(this.#buffer.first),
    onAdmitted: () => this.fill(),
  }
  /** How many more jobs may be started, for a pass with a limit. */
  allowance = Number.POSITIVE_INFINITY
  #startedThisTurn = 0

  constructor(deps: RunsDeps, options: ClaimedJobsOptions) {
    this.#options = options
    this.#clock = deps.clock
    this.#largestClaim = largestClaimOf(deps.backend)
    this.#buffer = new LeaseBuffer(options.concurrency, this.#largestClaim)
    const { concurrency, maxRescues } = options
    this.#unsettled = new UnsettledLimit(concurrency)
    const onImpatient = () => this.returnUnstarted(rescuedPauseMs)
    this.#rescued = new RescuedJobs({ concurrency, maxRescues, clock: deps.clock, onImpatient })
    this.#runs = new Runs(deps, {
      ...options,
      isLastChance: (lease) => this.#rescued.isLastChance(lease),
      onEnded: (run, durationMs) => {
        this.#rescued.ended(run.lease)
        if (this.#runs.size === 0) thisProcess.rests(this.#member)
        this.#unsettled.ended(durationMs)
        options.onEnded(run, durationMs)
        this.fill()
      },
      onSettled: () => {
        // If that made room, start the jobs that wait for it.
        if (this.#unsettled.settled()) this.fill()
        options.onSettled()
      },
    })
  }

  /** The runs whose handlers are active. */
  get running(): readonly ActiveRun[] {
    return this.#runs.running
  }

  get size(): number {
    return this.#runs.size
  }

  /** Number of runs that have called code of their job. */
  get called(): number {
    return this.#runs.called
  }

  /** Number of claimed jobs whose outcome is not on disk yet. */
  get outstanding(): number {
    const unwritten = this.#unsettled.count + this.#options.settler.size
    return this.#runs.size + this.#buffer.size + this.#buffer.heldSize + unwritten
  }

  /** Number of jobs that run or whose outcome is not on disk yet. */
  get unfinished(): number {
    return this.#runs.size + this.#unsettled.count
  }

  get tokens(): readonly string[] {
    return [...this.#runs.tokens, ...this.#buffer.waiting().map(({ lease }) => lease.token), ...this.#options.settler.tokens]
  }

  /** How many jobs to claim next. */
  get capacity(): number {
    const free = this.#mostAtOnce - this.#runs.size
    if (free < 0) return 0
    return Math.max(0, Math.min(this.#buffer.wanted(free), this.allowance, this.#largestClaim))
  }

  /** Takes the result of a claim for up to `limit` jobs. */
  take(leases: readonly Lease[], limit: number, sinceAsked: () => number): void {
    const twins = this.#runs.loseTwins(leases)
    const fresh = twins.size === 0 ? leases : leases.filter((lease) => !twins.has(lease))
    for (const { token } of twins) void this.#release(token, twinPauseMs)
    this.allowance -= fresh.length
    this.#buffer.add(
      fresh.map((lease) => claimedJob(lease, sinceAsked)),
      leases.length >= limit,
    )
  }

  /** Starts waiting jobs. Synchronous handlers would run all at once, so it yields to the event loop after a number of starts. */
  start(): void {
    while (this.#runs.size < this.#options.allowed() && this.#unsettled.hasRoom && !this.#options.isStopping()) {
      if (this.#startedThisTurn >= startsPerTurn) return
      const job = this.#buffer.first
      if (job === undefined) return
      if (this.#heldByRates(job)) continue
      const { lease } = job
      const most = Math.min(this.#rescued.most, this.#rescued.mostWith(lease))
      if (this.#runs.size >= most || !thisProcess.admits(this.#member, this.#rescued.isLastChance(lease))) {
        this.#rescued.wait((lease.rescues ?? 0) > 0)
        return
      }
      this.#buffer.shift()
      thisProcess.started(this.#member)
      this.#rescued.started(lease)
      this.#options.rates.started(lease)
      if (++this.#startedThisTurn === startsPerTurn) void this.#nextTurn()
      this.#runs.start(job)
    }
  }

  /** Called when slots are free. Claims the next jobs while the last ones are being settled. */
  fill(): void {
    this.start()
    if (this.#buffer.isPrefetching && this.capacity > 0) this.#options.onFree()
  }

  /** Returns false if none of them matches. */
  cancel(isMeant: (lease: Lease) => boolean): boolean {
    const waiting = this.#buffer.waiting().find(({ lease }) => isMeant(lease))
    if (waiting === undefined) return this.#runs.cancel(isMeant)
    this.#buffer.remove(waiting)
    this.#runs.startCancelled(waiting)
    return true
  }

  renewed(tokens: ReadonlySet<string>, sinceAsked: () => number): void {
    this.#runs.renewed(tokens, sinceAsked)
    for (const job of this.#buffer.waiting()) if (tokens.has(job.lease.token)) job.sinceAsked = sinceAsked
  }

  lose(token: string): void {
    this.#runs.lose(token)
    const waiting = this.#buffer.waiting().find(({ lease }) => lease.token === token)
    if (waiting !== undefined) {
      this.#buffer.remove(waiting)
      this.#runs.dropLost(waiting)
    }
    this.#options.onGone()
  }

  abort(): void {
    this.#runs.abort()
  }

  leaveBehind(): void {
    this.#runs.leaveBehind()
  }

  /** Returns jobs that have waited here too long to the queue, because another worker may be idle. */
  returnOverdue(): void {
    if (this.#buffer.isOverdue) this.returnUnstarted()
  }

  /** Rescued jobs may get a delay, so that others go first. */
  returnUnstarted(rescuedDelayMs = 0): void {
    this.#rescued.stop()
    const unstarted = this.#buffer.clear()
    this.allowance += unstarted.length
    for (const { lease } of unstarted) void this.#release(lease.token, (lease.rescues ?? 0) > 0 ? rescuedDelayMs : 0)
  }

  /** On shutdown, returns all waiting jobs, because other workers may have room for them. */
  returnAll(): void {
    this.returnUnstarted()
    this.#returnHeld(this.#buffer.clearHeld(), 0)
  }

  /** The worker has stopped: what its handlers still do is no longer waited for. */
  leave(): void {
    thisProcess.rests(this.#member)
  }

  /** A job that waits for its rate limits takes no slot and does not hold up other jobs. */
  #heldByRates(job: ClaimedJob): boolean {
    const heldMs = this.#options.rates.heldMs(job.lease)
    if (heldMs <= 0) return false
    job.sinceHeld ??= stopwatchOf(this.#clock)
    if (job.sinceHeld() + heldMs > this.#options.gate.longestHoldMs) {
      this.#buffer.shift()
      this.#returnHeld([job], heldMs)
      return true
    }
    const timer = this.#clock.timer(heldMs, () => {
      this.#buffer.unhold(job)
      this.start()
    })
    this.#buffer.hold(timer)
    return true
  }

  #returnHeld(jobs: readonly ClaimedJob[], delayMs: number): void {
    this.allowance += jobs.length
    for (const { lease } of jobs) void this.#release(lease.token, delayMs)
  }

  get #mostAtOnce(): number {
    const most = Math.min(this.#options.allowed(), this.#rescued.most)
    return thisProcess.isClosedTo(this.#member) ? Math.min(most, this.#runs.size) : most
  }

  #isLastChance(job: ClaimedJob | undefined): boolean {
    return job !== undefined && !this.#options.isStopping() && this.#rescued.isLastChance(job.lease)
  }

  async #nextTurn(): Promise<void> {
    await nextTurn()
    this.#startedThisTurn = 0
    this.start()
  }

  async #release(token: string, delayMs: number): Promise<void> {
    const { settler, tally, onFailed, onGone } = this.#options
    try {
      if ((await settler.settle({ token, kind: 'snooze', delayMs })) === 'applied') tally.released++
    } catch (error) {
      onFailed('a job could not be given back, and comes back when its lease runs out', error)
    }
    onGone()
  }
}
