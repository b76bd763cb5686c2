import type { Lease, LeaseBatch, LeaseRequest, QueueLimits } from '../backends/contract.ts'
import { nextTurn } from '../core/clock.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { type ActiveRun, abortGraceMs } from '../execution/active-run.ts'
import { ClaimableJobs } from './claimable-jobs.ts'
import { Claims } from './claims.ts'
import type { WorkerConfig } from './config.ts'
import { Idleness } from './idleness.ts'
import { LeaseBuffer } from './lease-buffer.ts'
import { emptyTally, type RunReport } from './report.ts'
import { Runs, type RunsDeps } from './runs.ts'
import { Settler } from './settler.ts'
import { Sleeper } from './sleeper.ts'
import { Telling } from './telling.ts'
import { Vitals, type VitalsDeps } from './vitals.ts'
import type { WorkerState } from './worker-state.ts'

export interface WorkerDeps extends RunsDeps, Pick<VitalsDeps, 'meter'> {
  readonly definitions: () => readonly JobDefinition[]
  readonly queueLimits: readonly QueueLimits[]
  /** Who works, for people: `host:pid:number`. */
  readonly owner: string
}

/** So many settlements may be on their way before no more jobs are leased. */
const mostUnsettled = 5_000
/** How long a job waits whose first run must end before the next. */
const twinPauseMs = 1_000
/** So many jobs are started before the event loop goes on to other things. */
const startsPerTurn = 200
/** With all hands full nothing wakes the worker: so often it looks for jobs that were asked to stop, whatever `poll` says. */
const busyLookMs = 1_000
/** How long a shutdown waits, after it aborted what ran, for handlers that do not end and a database that does not answer. */
export const lastWaitMs = 2 * abortGraceMs

/**
 * Leases jobs and runs them, several at once. Its loop asks for as many as it can start soon, sleeps until something wakes it,
 * and never ends because a call failed.
 */
export class Worker {
  readonly config: WorkerConfig
  readonly #deps: WorkerDeps
  readonly #runs: Runs
  readonly #settler: Settler
  readonly #vitals: Vitals
  readonly #claims: Claims
  readonly #idleness: Idleness
  readonly #telling: Telling
  readonly #buffer: LeaseBuffer
  readonly #sleeper: Sleeper
  readonly #claimable: ClaimableJobs
  readonly #tally = emptyTally()
  readonly #stopping = new AbortController()
  /** How many more jobs may be started, for a pass with a limit. */
  #allowance = Number.POSITIVE_INFINITY
  #startedThisTurn = 0
  #looping: Promise<void> = Promise.resolve()
  #shutdown: Promise<void> | undefined

  constructor(config: WorkerConfig, deps: WorkerDeps) {
    const { clock } = deps
    const { concurrency, leaseMs } = config
    const telling = new Telling(deps.logger, deps.events)
    const onError = (error: unknown) => telling.error(error)
    this.config = config
    this.#deps = deps
    this.#telling = telling
    this.#buffer = new LeaseBuffer(concurrency)
    this.#sleeper = new Sleeper(clock)
    this.#claimable = new ClaimableJobs(config.jobs)
    this.#vitals = new Vitals(config, deps, {
      telling,
      held: () => [...this.#runs.tokens, ...this.#buffer.waiting().map(({ token }) => token), ...this.#settler.tokens],
      isHolding: () => this.#outstanding > 0,
      running: () => this.#runs.running,
      onLost: (token) => this.#lose(token),
      onRise: () => this.#handsFree(),
      onRecovered: () => this.#claims.wake(),
    })
    const { queue, breaker, heartbeat, stallWatch } = this.#vitals
    this.#settler = new Settler(queue, clock, onError)
    this.#runs = new Runs(deps, {
      leaseMs,
      settler: this.#settler,
      tally: this.#tally,
      onFailed: (what, error) => telling.failed(what, error),
      onStarted: (run) => stallWatch.began(run),
      onEnded: (run, durationMs) => this.#ended(run, durationMs),
      onSettled: () => this.#settled(),
    })
    this.#claims = new Claims({
      queue,
      breaker,
      clock,
      signal: this.#stopping.signal,
      request: (limit) => this.#request(limit),
      before: () => heartbeat.catchUp(),
      onError,
    })
    this.#idleness = new Idleness(clock, () => this.#outstanding === 0)
  }

  get report(): RunReport {
    return { ...this.#tally }
  }

  get state(): WorkerState {
    const { concurrency } = this.config
    return { owner: this.#deps.owner, running: this.#runs.size, concurrency, ...this.#vitals.state }
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
    const watch = this.#deps.backend.watch(() => this.#sleeper.wake())
    try {
      await this.#startLoop(() => false)
    } finally {
      watch.close()
    }
  }

  /** Works until nothing is due any more, or `limit` jobs were started. */
  async drain(limit = Number.POSITIVE_INFINITY): Promise<void> {
    this.#allowance = limit
    await this.#startLoop((idle) => idle || (this.#allowance <= 0 && this.#outstanding === 0))
    await this.stop()
  }

  /** In stages: claim no more, give back what has not begun, wait, abort what is left, wait for it, settle. */
  stop(): Promise<void> {
    this.#shutdown ??= this.#stop()
    return this.#shutdown
  }

  /** Skips the wait of a shutdown. */
  abort(): void {
    this.#runs.abort()
  }

  /** Stops a job of this worker; false when it has none with this id. */
  cancel(id: string): boolean {
    return this.#cancel(({ envelope }) => envelope.id === id)
  }

  async #startLoop(finished: (idle: boolean) => boolean): Promise<void> {
    // What a shutdown has ended already must not be begun after it.
    if (this.isStopping) return
    this.#vitals.start()
    this.#looping = this.#loop(finished)
    await this.#looping
  }

  async #loop(finished: (idle: boolean) => boolean): Promise<void> {
    while (!this.isStopping) {
      if (this.#buffer.isOverdue) this.#returnUnstarted()
      this.#sleeper.look()
      const limit = this.#capacity()
      const nothingUnderWay = this.#outstanding === 0
      const batch = await this.#claims.claim(limit)
      if (batch === undefined) return
      this.#take(batch, limit)
      // A backend may promote due jobs a part at a time: it has more to give as long as something is overdue.
      const isMoreDue = batch.nextAt !== null && batch.nextAt <= this.#deps.clock.now()
      if (finished(nothingUnderWay && batch.leases.length === 0 && !isMoreDue)) return
      const all = batch.leases.length >= limit
      if (!all || this.#capacity() === 0) await this.#sleeper.sleep(this.#sleepMs(batch, all), all)
    }
  }

  /** How many jobs to ask for. */
  #capacity(): number {
    if (this.#settler.size > mostUnsettled) return 0
    const free = this.#vitals.allowed - this.#runs.size
    if (free < 0) return 0
    return Math.max(0, Math.min(this.#buffer.wanted(free), this.#allowance))
  }

  #request(limit: number): LeaseRequest {
    const { owner, definitions, queueLimits } = this.#deps
    const { queues, leaseMs, maxRescues, ageingMs } = this.config
    const jobs = this.#claimable.of(definitions())
    return { jobs, queues, limit, leaseMs, owner, maxRescues, queueLimits, ageingMs }
  }

  #take({ leases, cancelled }: LeaseBatch, limit: number): void {
    for (const each of cancelled) this.#cancel(({ token }) => token === each)
    if (leases.length === 0) return
    const twins = this.#runs.loseTwins(leases)
    const fresh = twins.size === 0 ? leases : leases.filter((lease) => !twins.has(lease))
    for (const { token } of twins) void this.#release(token, twinPauseMs)
    this.#allowance -= fresh.length
    this.#buffer.add(fresh, leases.length >= limit)
    this.#vitals.stallWatch.watch()
    this.#startBuffered()
  }

  /** Handlers that never wait for anything would run in one go: after so many, whatever else has arrived gets its turn. */
  #startBuffered(): void {
    while (this.#runs.size < this.#vitals.allowed && !this.isStopping) {
      if (this.#startedThisTurn >= startsPerTurn) return
      const lease = this.#buffer.shift()
      if (lease === undefined) return
      if (++this.#startedThisTurn === startsPerTurn) void this.#nextTurn()
      this.#runs.start(lease)
    }
  }

  async #nextTurn(): Promise<void> {
    await nextTurn()
    this.#startedThisTurn = 0
    this.#startBuffered()
  }

  #cancel(isMeant: (lease: Lease) => boolean): boolean {
    const waiting = this.#buffer.waiting().find(isMeant)
    if (waiting === undefined) return this.#runs.cancel(isMeant)
    this.#buffer.remove(waiting)
    this.#runs.startCancelled(waiting)
    return true
  }

  #ended(run: ActiveRun, durationMs: number): void {
    this.#vitals.stallWatch.ended(run, durationMs)
    this.#handsFree()
  }

  #handsFree(): void {
    this.#startBuffered()
    // The next jobs are asked for while the last ones are being settled.
    if (this.#buffer.isPrefetching && this.#capacity() > 0) this.#sleeper.free()
  }

  #settled(): void {
    if (this.#capacity() > 0 || this.#outstanding === 0) this.#sleeper.free()
    this.#idleness.notice()
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    this.#sleeper.end()
    await this.#looping.catch(() => {})
    this.#returnUnstarted()
    await this.#idleness.wait(this.config.graceMs)
    this.abort()
    const patience = this.#deps.clock.timer(lastWaitMs / 2, () => this.#settler.giveUp())
    await this.#idleness.wait(lastWaitMs)
    patience.cancel()
    await this.#deps.isolates?.close()
    this.#vitals.stop()
  }

  /** Another worker may be idle: what waits here for too long goes back to its place in the queue. */
  #returnUnstarted(): void {
    const unstarted = this.#buffer.clear()
    this.#allowance += unstarted.length
    for (const { token } of unstarted) void this.#release(token, 0)
  }

  async #release(token: string, delayMs: number): Promise<void> {
    try {
      if ((await this.#settler.settle({ token, kind: 'snooze', delayMs })) === 'applied') this.#tally.released++
    } catch (error) {
      this.#telling.failed('a job could not be given back, and comes back when its lease runs out', error)
    }
    this.#idleness.notice()
  }

  get #outstanding(): number {
    return this.#runs.size + this.#buffer.size + this.#settler.size
  }

  #sleepMs(batch: LeaseBatch, busy: boolean): number {
    const { pollMs } = this.config
    if (busy) return Math.min(pollMs, busyLookMs)
    if (batch.nextAt === null) return pollMs
    return Math.min(pollMs, Math.max(1, batch.nextAt - this.#deps.clock.now()))
  }

  #lose(token: string): void {
    this.#runs.lose(token)
    const waiting = this.#buffer.waiting().find((lease) => lease.token === token)
    if (waiting !== undefined) this.#buffer.remove(waiting)
    this.#idleness.notice()
  }
}
