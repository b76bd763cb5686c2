import type { Lease, LeaseBatch, QueueLimits } from '../backends/contract.ts'
import { nextTurn } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { type ActiveRun, abortGraceMs } from '../execution/active-run.ts'
import type { RunEvent } from '../execution/events.ts'
import { ClaimableJobs } from './claimable-jobs.ts'
import type { WorkerConfig } from './config.ts'
import { Heartbeat } from './heartbeat.ts'
import { LeaseBuffer } from './lease-buffer.ts'
import { persistently } from './persistent.ts'
import { emptyTally, type RunReport } from './report.ts'
import { Runs, type RunsDeps } from './runs.ts'
import { Settler } from './settler.ts'
import { Sleeper } from './sleeper.ts'
import { type Stall, StallWatch } from './stall-watch.ts'
import { stallText } from './stall-words.ts'
import type { WorkerState } from './worker-state.ts'

export interface WorkerDeps extends RunsDeps {
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
  readonly #heartbeat: Heartbeat
  readonly #stallWatch: StallWatch
  readonly #buffer: LeaseBuffer
  readonly #sleeper: Sleeper
  readonly #claimable: ClaimableJobs
  readonly #tally = emptyTally()
  readonly #stopping = new AbortController()
  /** How many more jobs may be started, for a pass with a limit. */
  #allowance = Number.POSITIVE_INFINITY
  #startedThisTurn = 0
  #looping: Promise<void> = Promise.resolve()
  #idleWaiters: (() => void)[] = []
  #shutdown: Promise<void> | undefined

  constructor(config: WorkerConfig, deps: WorkerDeps) {
    const { backend, clock } = deps
    const { concurrency, leaseMs } = config
    const onError = (error: unknown) => this.#report(error)
    this.config = config
    this.#deps = deps
    this.#buffer = new LeaseBuffer(concurrency)
    this.#sleeper = new Sleeper(clock)
    this.#claimable = new ClaimableJobs(config.jobs)
    this.#settler = new Settler(backend, clock, onError)
    this.#runs = new Runs(deps, {
      leaseMs,
      settler: this.#settler,
      tally: this.#tally,
      onError,
      onStarted: (run) => this.#stallWatch.began(run),
      onEnded: (run, durationMs) => this.#ended(run, durationMs),
      onSettled: () => this.#settled(),
    })
    this.#heartbeat = new Heartbeat({
      backend,
      standIn: () => backend.standIn?.({ owner: deps.owner, leaseMs, graceMs: abortGraceMs, longestMs: config.maxStallMs }),
      clock,
      leaseMs,
      held: () => [...this.#runs.tokens, ...this.#buffer.waiting().map(({ token }) => token), ...this.#settler.tokens],
      onLost: (token) => this.#lose(token),
      onError,
    })
    this.#stallWatch = new StallWatch({
      clock,
      leaseMs,
      stallMs: config.stallMs,
      running: () => this.#runs.running,
      isHolding: () => this.#outstanding > 0,
      onLive: () => this.#heartbeat.live(),
      onRest: () => this.#heartbeat.rest(),
      onStall: (stall) => this.#stalled(stall),
    })
  }

  get report(): RunReport {
    return { ...this.#tally }
  }

  get state(): WorkerState {
    const { concurrency } = this.config
    return { owner: this.#deps.owner, running: this.#runs.size, concurrency, allowed: concurrency, breaker: 'closed' }
  }

  /** The keys of the jobs that it runs. */
  get jobs(): readonly string[] {
    return this.#claimable.of(this.#deps.definitions()).map(({ job }) => job)
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

  #startLoop(finished: (idle: boolean) => boolean): Promise<void> {
    this.#heartbeat.start()
    this.#looping = this.#loop(finished)
    return this.#looping
  }

  async #loop(finished: (idle: boolean) => boolean): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      if (this.#buffer.isOverdue) this.#returnUnstarted()
      this.#sleeper.look()
      const limit = this.#capacity()
      const nothingUnderWay = this.#outstanding === 0
      const batch = await this.#lease(limit)
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
    const free = this.config.concurrency - this.#runs.size
    return Math.max(0, Math.min(this.#buffer.wanted(free), this.#allowance))
  }

  async #lease(limit: number): Promise<LeaseBatch | undefined> {
    const { backend, clock, owner, definitions, queueLimits } = this.#deps
    const { queues, leaseMs, maxRescues, ageingMs } = this.config
    const { signal } = this.#stopping
    const lease = async () => {
      await this.#heartbeat.catchUp()
      const jobs = this.#claimable.of(definitions())
      return backend.lease({ jobs, queues, limit, leaseMs, owner, maxRescues, queueLimits, ageingMs })
    }
    try {
      return await persistently(lease, { clock, signal, onError: (error) => this.#report(error) })
    } catch (error) {
      if (!signal.aborted) throw error
      return undefined
    }
  }

  #take({ leases, cancelled }: LeaseBatch, limit: number): void {
    for (const each of cancelled) this.#cancel(({ token }) => token === each)
    if (leases.length === 0) return
    const twins = this.#runs.loseTwins(leases)
    const fresh = twins.size === 0 ? leases : leases.filter((lease) => !twins.has(lease))
    for (const { token } of twins) void this.#release(token, twinPauseMs)
    this.#allowance -= fresh.length
    this.#buffer.add(fresh, leases.length >= limit)
    this.#stallWatch.watch()
    this.#startBuffered()
  }

  /** Handlers that never wait for anything would run in one go: after so many, whatever else has arrived gets its turn. */
  #startBuffered(): void {
    while (this.#runs.size < this.config.concurrency && !this.#stopping.signal.aborted) {
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
    this.#stallWatch.ended(run, durationMs)
    this.#startBuffered()
    // The next jobs are asked for while the last ones are being settled.
    if (this.#buffer.isPrefetching && this.#capacity() > 0) this.#sleeper.free()
  }

  #settled(): void {
    if (this.#capacity() > 0 || this.#outstanding === 0) this.#sleeper.free()
    this.#noticeIdle()
  }

  async #stop(): Promise<void> {
    this.#stopping.abort()
    this.#sleeper.end()
    await this.#looping.catch(() => {})
    this.#returnUnstarted()
    await this.#untilIdle(this.config.graceMs)
    this.abort()
    const patience = this.#deps.clock.timer(lastWaitMs / 2, () => this.#settler.giveUp())
    await this.#untilIdle(lastWaitMs)
    patience.cancel()
    await this.#deps.isolates?.close()
    this.#stallWatch.stop()
    this.#heartbeat.stop()
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
      this.#report(error)
    }
    this.#noticeIdle()
  }

  #noticeIdle(): void {
    if (this.#outstanding === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }

  get #outstanding(): number {
    return this.#runs.size + this.#buffer.size + this.#settler.size
  }

  #untilIdle(longestMs: number): Promise<void> {
    if (this.#outstanding === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel()
        resolve()
      }
      const timer = this.#deps.clock.timer(longestMs, end)
      this.#idleWaiters.push(end)
    })
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
    this.#noticeIdle()
  }

  #stalled(stall: Stall): void {
    const { logger, events } = this.#deps
    const { stalledMs, running, suspects } = stall
    logger.warn(stallText(stall))
    events.emit('worker:stalled', { stalledMs, running: running.map(eventOf), suspects: suspects.map(eventOf) })
  }

  #report(error: unknown): void {
    this.#deps.logger.error(`${messageOf(error)}; trying again`)
    this.#deps.events.emit('worker:error', { error })
  }
}

function eventOf({ event }: ActiveRun): RunEvent {
  return event
}
