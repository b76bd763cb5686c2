import type { Timer } from '../core/time/clock.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { abortGraceMs } from '../execution/attempt/active-run.ts'
import type { LeaseBatch, LeaseRequest, QueueLimits, Watch } from '../queue/contract/contract.ts'
import type { WorkerConfig } from './config.ts'
import { WorkerHealth, type WorkerHealthDeps } from './health/worker-health.ts'
import { WorkerLog } from './health/worker-log.ts'
import type { WorkerState } from './health/worker-state.ts'
import { ClaimableJobs } from './loop/claimable-jobs.ts'
import { type ClaimAnswer, Claims } from './loop/claims.ts'
import { IdleWaiters } from './loop/idle-waiters.ts'
import { hurriedMs, LastCalls } from './loop/last-calls.ts'
import { PollInterval } from './loop/poll-interval.ts'
import { Sleeper } from './loop/sleeper.ts'
import { ClaimedJobs } from './runs/claimed-jobs.ts'
import { emptyTally, type RunReport } from './runs/report.ts'
import type { RunsDeps } from './runs/runs.ts'
import { Settler } from './runs/settler.ts'
import { startGate } from './runs/start-gate.ts'
import type { StartPace } from './runs/start-rates.ts'
import { largestSettle } from './runs/unsettled-limit.ts'

export interface WorkerDeps extends RunsDeps, Pick<WorkerHealthDeps, 'meter'> {
  readonly definitions: () => readonly JobDefinition[]
  readonly queueLimits: readonly QueueLimits[]
  /** Shared by all workers of the program, whether consecutive or concurrent. */
  readonly pace: StartPace
  /** Human-readable id of the worker: `host:pid:number`. */
  readonly owner: string
}

/** How often to check for cancelled jobs while all slots are in use, whatever `poll` says. Nothing else wakes the worker then. */
const busyLookMs = 1_000
/**
 * How long a shutdown waits, after aborting the running jobs, for handlers that do not end and for outcomes to be written.
 */
export const lastWaitMs = 2 * abortGraceMs

/**
 * Claims jobs and runs several at once. Its loop claims as many as it can start soon, then sleeps until something wakes it. A
 * failed call never ends the loop.
 */
export class Worker {
  readonly config: WorkerConfig
  readonly #deps: WorkerDeps
  readonly #claimed: ClaimedJobs
  readonly #settler: Settler
  readonly #health: WorkerHealth
  readonly #claims: Claims
  readonly #idleness: IdleWaiters
  /** Callers that wait until no job runs and no outcome waits to be written. */
  readonly #works: IdleWaiters
  /** What its shutdown still asks of the queue. */
  readonly lastCalls: LastCalls
  readonly #sleeper: Sleeper
  readonly #claimable: ClaimableJobs
  readonly #looks: PollInterval
  readonly #tally = emptyTally()
  readonly #stopping = new AbortController()
  #watch: Watch | undefined
  #looping: Promise<void> = Promise.resolve()
  #shutdown: Promise<void> | undefined
  #isAborted = false
  #hurry: Timer | undefined
  #onStopped = () => {}
  /** Resolves when it has stopped. */
  readonly stopped = new Promise<void>((resolve) => {
    this.#onStopped = resolve
  })

  constructor(config: WorkerConfig, deps: WorkerDeps) {
    const { clock } = deps
    const workerLog = new WorkerLog(deps.logger, deps.events, clock)
    const onError = (error: unknown) => workerLog.error(error)
    this.config = config
    this.#deps = deps
    this.#sleeper = new Sleeper(clock)
    this.#claimable = new ClaimableJobs(config.jobs)
    this.#looks = new PollInterval(config.pollMs, () => this.#watch?.isPush ?? true)
    this.#health = new WorkerHealth(config, deps, {
      workerLog,
      held: () => this.#claimed.tokens,
      isHolding: () => this.#claimed.outstanding > 0,
      running: () => this.#claimed.running,
      onLost: (token) => this.#claimed.lose(token),
      onRenewed: (tokens, sinceAsked) => this.#claimed.renewed(tokens, sinceAsked),
      onRise: () => this.#claimed.fill(),
      onRecovered: () => this.#claims.wake(),
    })
    const { queue, breaker, heartbeat } = this.#health
    this.#settler = new Settler(queue, clock, largestSettle(config.concurrency), onError)
    this.#idleness = new IdleWaiters(clock, () => this.#claimed.outstanding === 0)
    this.#works = new IdleWaiters(clock, () => this.#claimed.unfinished === 0)
    this.lastCalls = new LastCalls(clock, (message) => deps.logger.warn(message))
    this.#claimed = this.#newClaimedJobs(workerLog)
    this.#claims = new Claims({
      queue,
      breaker,
      clock,
      signal: this.#stopping.signal,
      request: (limit) => this.#request(limit),
      before: () => heartbeat.catchUp(),
      onError,
    })
  }

  get report(): RunReport {
    return { ...this.#tally }
  }

  get state(): WorkerState {
    const { concurrency } = this.config
    return { owner: this.#deps.owner, running: this.#claimed.size, concurrency, ...this.#health.state }
  }

  /** The keys of the jobs that it runs. */
  get jobs(): readonly string[] {
    return this.#claimable.of(this.#deps.definitions()).map(({ job }) => job)
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Works until `stop` is called. */
  async work(): Promise<void> {
    this.#watch = this.#deps.backend.watch(() => this.#sleeper.wake())
    try {
      await this.#startLoop(() => false)
    } finally {
      this.#watch.close()
    }
  }

  /** Works until no job is due or `limit` jobs have been started. */
  async drain(limit = Number.POSITIVE_INFINITY): Promise<void> {
    const claimed = this.#claimed
    claimed.allowance = limit
    await this.#startLoop((idle) => idle || (claimed.allowance <= 0 && claimed.outstanding === 0))
    await this.stop()
  }

  /** Stops in stages: stops claiming, returns jobs that have not begun, waits, aborts the rest, waits for it, and settles. */
  stop(): Promise<void> {
    this.#shutdown ??= this.#stop()
    return this.#shutdown
  }

  /** Skips the waiting of a shutdown; called again, it does not wait for handlers that have not ended either. */
  abort(): void {
    this.lastCalls.hurry()
    if (this.#isAborted) this.#claimed.leaveBehind()
    else this.#claimed.abort()
    this.#isAborted = true
    this.#hurryWrites()
  }

  /** Cancels a job of this worker. Returns false if it has no job with this id. */
  cancel(id: string): boolean {
    return this.#claimed.cancel(({ envelope }) => envelope.id === id)
  }

  #newClaimedJobs(workerLog: WorkerLog): ClaimedJobs {
    const { concurrency, leaseMs, maxRescues } = this.config
    const { stallWatch, heartbeat } = this.#health
    const { pace } = this.#deps
    return new ClaimedJobs(this.#deps, {
      concurrency,
      maxRescues,
      leaseMs,
      rates: pace.runs,
      gate: startGate({ leaseMs, renewal: () => heartbeat.renewal(), rates: pace.handlers }),
      settler: this.#settler,
      tally: this.#tally,
      errors: workerLog.errors,
      allowed: () => this.#health.allowed,
      isStopping: () => this.isStopping,
      onFailed: (what, error) => workerLog.failed(what, error),
      onEnded: (run, durationMs) => {
        stallWatch.ended(run, durationMs)
        if (this.#isAborted) this.#hurryWrites()
      },
      onFree: () => this.#sleeper.free(),
      onSettled: () => this.#settled(),
      onGone: () => this.#noticeIdle(),
    })
  }

  async #startLoop(finished: (idle: boolean) => boolean): Promise<void> {
    // Do not start anything after a shutdown.
    if (this.isStopping) return
    this.#health.start()
    this.#looping = this.#loop(finished)
    await Promise.race([this.#looping, this.stopped])
  }

  async #loop(finished: (idle: boolean) => boolean): Promise<void> {
    while (!this.isStopping) {
      this.#claimed.returnOverdue()
      this.#sleeper.look()
      const limit = this.#claimed.capacity
      const nothingUnderWay = this.#claimed.outstanding === 0
      const batch = await this.#claims.claim(limit)
      if (batch === undefined) return
      this.#take(batch, limit)
      // A backend may promote due jobs in parts, so there is more to claim as long as something is overdue.
      const isMoreDue = batch.nextAt !== null && batch.nextAt <= this.#deps.clock.now()
      if (finished(nothingUnderWay && batch.leases.length === 0 && !isMoreDue)) return
      const all = batch.leases.length >= limit
      if (all && this.#claimed.capacity > 0) continue
      // What became free during the claim is taken into account: while there is no capacity, a claim would bring nothing.
      if (this.#claimed.capacity === 0 && this.#claimed.outstanding > 0) this.#sleeper.look()
      await this.#sleeper.sleep(this.#sleepMs(batch, all), all)
    }
  }

  #request(limit: number): LeaseRequest {
    const { owner, definitions, queueLimits } = this.#deps
    const { queues, leaseMs, maxRescues, ageingMs } = this.config
    const jobs = this.#claimable.of(definitions())
    return { jobs, queues, limit, leaseMs, owner, maxRescues, amongOthers: true, queueLimits, ageingMs }
  }

  #take({ leases, cancelled, sinceAsked }: ClaimAnswer, limit: number): void {
    for (const each of cancelled) this.#claimed.cancel(({ token }) => token === each)
    if (leases.length === 0) return
    this.#claimed.take(leases, limit, sinceAsked)
    this.#health.stallWatch.watch()
    this.#claimed.start()
  }

  #settled(): void {
    if (this.#claimed.capacity > 0 || this.#claimed.outstanding === 0) this.#sleeper.free()
    this.#noticeIdle()
  }

  #noticeIdle(): void {
    this.#idleness.notice()
    this.#works.notice()
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    this.#sleeper.end()
    // A claim that is under way may still bring jobs.
    const returned = this.#looping.catch(() => {}).then(() => this.#claimed.returnAll())
    this.#claimed.returnAll()
    await this.#works.wait(this.config.graceMs)
    this.#claimed.abort()
    const patience = this.#deps.clock.timer(lastWaitMs / 2, () => this.#settler.giveUp())
    await this.#works.wait(lastWaitMs)
    patience.cancel()
    const written = returned.then(() => this.#idleness.wait(lastWaitMs))
    await Promise.all([this.lastCalls.ended(written), this.#deps.isolates?.close()])
    await this.lastCalls.ended(this.#deps.logs?.flushed())
    this.#settler.giveUp()
    this.#hurry?.cancel()
    for (const waiters of [this.#works, this.#idleness]) waiters.end()
    this.#claimed.leave()
    this.#health.stop()
    this.#onStopped()
  }

  /** After a second signal, outcomes get little time to be written once no handler runs. Then everything has had its time. */
  #hurryWrites(): void {
    if (this.#claimed.called > 0) return
    const end = () => {
      this.#works.end()
      this.lastCalls.hurry(0)
    }
    this.#hurry ??= this.#deps.clock.timer(hurriedMs, end, { unref: true })
  }

  #sleepMs({ leases, nextAt }: LeaseBatch, busy: boolean): number {
    if (busy) return Math.min(this.config.pollMs, busyLookMs)
    const pauseMs = this.#looks.pauseMs(leases.length > 0)
    return nextAt === null ? pauseMs : Math.min(pauseMs, Math.max(1, nextAt - this.#deps.clock.now()))
  }
}
