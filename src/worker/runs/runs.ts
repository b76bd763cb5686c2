import { Batcher } from '../../core/batcher.ts'
import { TreadleError } from '../../core/errors.ts'
import type { RepeatedErrors } from '../../core/repeated-errors.ts'
import { type Clock, stopwatch } from '../../core/time/clock.ts'
import { formatDuration } from '../../core/time/duration.ts'
import type { Keep } from '../../definition/definition.ts'
import { storedProgress } from '../../envelope/progress.ts'
import { openedLinks } from '../../execution/admit/handed-on.ts'
import { ActiveRun, type StartGate } from '../../execution/attempt/active-run.ts'
import { type ExecutionDeps, execute } from '../../execution/attempt/execute.ts'
import type { RunServices } from '../../execution/attempt/run-context.ts'
import { runLogger } from '../../execution/attempt/run-logger.ts'
import { type EndingDeps, end, plainEnd, skipBehind } from '../../execution/end/end.ts'
import { type Outcome, outcomeWords } from '../../execution/end/outcome.ts'
import type { FinalReceipt } from '../../execution/end/sealing.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import type { Lease, QueueBackend, SettleReceipt } from '../../queue/contract/contract.ts'
import type { ProgressReport } from '../../queue/contract/store.ts'
import { type Observers, waitedMs } from '../../telemetry/observer.ts'
import { announce, subjectOf } from '../health/announce.ts'
import type { ClaimedJob } from './claimed-job.ts'
import type { JobLogs } from './job-logs.ts'
import { PlainEnd } from './plain-end.ts'
import { count, type Tally } from './report.ts'
import type { Settler } from './settler.ts'

export interface RunsDeps extends Omit<ExecutionDeps, 'services'> {
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly logger: ExecutionDeps['services']['logger']
  /** Stores what jobs log; null if log lines are not stored. */
  readonly logs: JobLogs | null
  readonly events: JobEvents
  readonly children: RunServices['children']
  readonly observers: Observers
}

export interface RunsOptions {
  readonly leaseMs: number
  readonly settler: Settler
  readonly gate: StartGate
  readonly tally: Tally
  readonly errors: RepeatedErrors
  /** Called when a call failed and is not retried. */
  readonly onFailed: (what: string, error: unknown) => void
  /** Called when a run has ended and its slot is free. */
  readonly onEnded: (run: ActiveRun, durationMs: number) => void
  /** Called when its outcome is on disk. */
  readonly onSettled: () => void
  /** Whether the job runs alone and is given up if its worker dies once more. */
  readonly isLastChance: (lease: Lease) => boolean
}

const mostReports = 1_000
const mostBegins = 1_000
const holdAgainMs = 1_000

/** The jobs that a worker is running, each from its start until its outcome is on disk. */
export class Runs {
  readonly #deps: RunsDeps
  readonly #options: RunsOptions
  readonly #execution: ExecutionDeps
  readonly #ending: EndingDeps
  readonly #progress: Batcher<ProgressReport, undefined>
  readonly #begins: Batcher<string, SettleReceipt>
  readonly #answer: PlainEnd['answer']
  readonly #active = new Set<ActiveRun>()

  constructor(deps: RunsDeps, options: RunsOptions) {
    const { backend, events, logger, logs, observers } = deps
    this.#deps = deps
    this.#options = options
    this.#progress = new Batcher(async (reports) => {
      await backend.store?.report(reports)
      return []
    }, mostReports)
    this.#ending = { ...deps, settle: (settlement) => options.settler.settle(settlement) }
    this.#begins = new Batcher((tokens) => backend.begin(tokens), mostBegins)
    this.#answer = (end, receipt, error) => {
      if (error !== null) this.#notWritten(end.run, error)
      if (receipt === 'applied') this.#settled(end, end.outcome)
      else void this.#settledOtherwise(end, receipt)
    }
    this.#execution = {
      ...deps,
      services: {
        logger,
        errors: options.errors,
        logOf: (run) => logs?.of(run) ?? null,
        started: (run) => {
          if (events.has('job:started')) events.emit('job:started', run.event, subjectOf(run, deps.keys))
          if (observers.isOn) observers.started(run.lease.envelope, waitedMs(run.lease.envelope, this.#now()))
        },
        overran: (run, overrunMs) => {
          const since = formatDuration(overrunMs)
          runLogger(run.event, logger).warn(`was asked to stop ${since} ago and has not ended; it keeps its slot until it does`)
          events.emit('job:overrun', { ...run.event, overrunMs }, subjectOf(run, deps.keys))
        },
        report: (token, progress) => this.#report(token, progress),
        begin: async (token) => (await this.#begins.add(token)) === 'applied',
        children: deps.children,
        links: (waiter) => openedLinks(waiter, backend.store, deps.keys),
        rootOf: async (id) => (await backend.store?.get(id))?.root ?? id,
        recordOf: async (id) => (await backend.store?.get(id)) ?? null,
        extend: async (token) => (await backend.extend([token], options.leaseMs))[0] === 'applied',
      },
    }
  }

  get size(): number {
    return this.#active.size
  }

  /** A run that has completed its job itself no longer has a lease. */
  get tokens(): Iterable<string> {
    return this.running.filter((run) => !run.isEnding).map(({ lease }) => lease.token)
  }

  /** Number of runs that have called code of their job. */
  get called(): number {
    return this.running.filter(({ isCalled }) => isCalled).length
  }

  get running(): readonly ActiveRun[] {
    return [...this.#active]
  }

  start(job: ClaimedJob): void {
    this.#start(this.#newRun(job))
  }

  /** Ends a job that never began like any other, but without calling its handler. */
  startCancelled(job: ClaimedJob): void {
    const run = this.#newRun(job)
    run.stop('cancelled')
    this.#start(run)
  }

  /** Another worker has taken over a job that had not begun here. */
  dropLost(job: ClaimedJob): void {
    count(this.#options.tally, 'lost')
    this.#deps.observers.ended(job.lease.envelope, { outcome: 'lost', runMs: null, settleMs: null })
    announce(this.#deps, this.#newRun(job), { kind: 'lost' }, 0)
  }

  /** Returns false if none of them matches. */
  cancel(isMeant: (lease: Lease) => boolean): boolean {
    const run = this.running.find(({ lease }) => isMeant(lease))
    run?.stop('cancelled')
    return run !== undefined
  }

  renewed(tokens: ReadonlySet<string>, sinceAsked: () => number): void {
    for (const run of this.#active) if (tokens.has(run.lease.token)) run.sinceAsked = sinceAsked
  }

  lose(token: string): void {
    const run = this.#runOf(token)
    if (run !== undefined && !run.isEnding) run.stop('lost')
  }

  /** The leases whose job is still running here under an older lease, which is therefore lost. */
  loseTwins(leases: readonly Lease[]): ReadonlySet<Lease> {
    const running = new Map(this.running.map((run) => [run.lease.envelope.id, run]))
    const twins = leases.filter(({ envelope }) => running.has(envelope.id))
    for (const { envelope } of twins) running.get(envelope.id)?.stop('lost')
    return new Set(twins)
  }

  abort(): void {
    for (const run of this.#active) run.stop('shutdown')
  }

  /** Returns the jobs of handlers that have not heeded an abort. */
  leaveBehind(): void {
    for (const run of this.#active) run.leaveBehind()
  }

  #newRun({ lease, sinceAsked }: ClaimedJob): ActiveRun {
    return new ActiveRun(lease, this.#deps.clock, this.#options.gate, sinceAsked)
  }

  /** Fast path: most runs may begin at once, and settle while others run. */
  #start(run: ActiveRun): void {
    this.#active.add(run)
    const elapsedMs = stopwatch()
    if (this.#options.isLastChance(run.lease)) return void this.#runAlone(run, elapsedMs)
    const running = run.mayBegin ? execute(run, this.#execution) : this.#outcomeAfterWaiting(run, false)
    void running.then((outcome) => {
      const durationMs = elapsedMs()
      this.#ended(run, durationMs)
      this.#settleBeside(run, outcome, durationMs)
    })
  }

  #ended(run: ActiveRun, durationMs: number): void {
    this.#active.delete(run)
    this.#options.onEnded(run, durationMs)
  }

  #runOf(token: string): ActiveRun | undefined {
    return this.running.find(({ lease }) => lease.token === token)
  }

  /** Until its outcome is written, the death of this worker would be blamed on this job. So nothing else may begin before that. */
  async #runAlone(run: ActiveRun, elapsedMs: () => number): Promise<void> {
    const outcome = await this.#outcomeAfterWaiting(run, true)
    const durationMs = elapsedMs()
    await this.#settle(run, outcome, durationMs)
    this.#ended(run, durationMs)
    this.#options.onSettled()
  }

  /** Settles while other jobs run. Most ends are plain: no promise is made for each of them. */
  #settleBeside(run: ActiveRun, outcome: Outcome, durationMs: number): void {
    const isOwn = run.transaction === null && run.trace === null
    const settlement = isOwn ? plainEnd(run.lease, outcome, this.#ending, run.scheduled) : null
    const settleMs = this.#deps.observers.isOn ? stopwatch() : null
    if (settlement === null) void this.#settle(run, outcome, durationMs).then(() => this.#options.onSettled())
    else this.#options.settler.settleFor(settlement, new PlainEnd(run, outcome, durationMs, settleMs, this.#answer))
  }

  /** Does not inspect the job before the lease is certain, because filters and keys are up to the current holder. */
  async #outcomeAfterWaiting(run: ActiveRun, isAlone: boolean): Promise<Outcome> {
    await run.untilItMayBegin()
    if (run.stopReason === 'lost') return { kind: 'lost' }
    const refused = isAlone ? await this.#holdAlone(run.lease.token) : null
    return refused ?? execute(run, this.#execution)
  }

  /** From now on, the death of this worker is blamed on this job. If that cannot be written, the job is snoozed. */
  async #holdAlone(token: string): Promise<Outcome | null> {
    const { leaseMs, onFailed } = this.#options
    try {
      const [receipt] = await this.#deps.backend.extend([token], leaseMs, true)
      return receipt === 'applied' ? null : { kind: 'lost' }
    } catch (error) {
      onFailed('it could not be written that a rescued job runs alone, so it runs later', error)
      return { kind: 'snooze', delayMs: holdAgainMs }
    }
  }

  async #settle(run: ActiveRun, outcome: Outcome, durationMs: number): Promise<void> {
    let receipt: FinalReceipt = 'lost'
    const settleMs = this.#deps.observers.isOn ? stopwatch() : null
    run.trace?.settling(outcome)
    try {
      if (run.transaction?.completed) {
        receipt = run.transaction.completed.receipt as FinalReceipt
        await skipBehind(outcome, run.scheduled, this.#ending)
      } else receipt = await end(run.lease, outcome, this.#ending, run.scheduled)
    } catch (error) {
      this.#notWritten(run, error)
    }
    const settled = receipt === 'applied' ? outcome : await this.#otherwise(receipt, run.lease.envelope.id)
    run.trace?.settled(settled)
    this.#tell(run, settled, durationMs, settleMs === null ? null : settleMs())
  }

  #settled({ run, durationMs, settleMs }: PlainEnd, settled: Outcome): void {
    this.#tell(run, settled, durationMs, settleMs === null ? null : settleMs())
    this.#options.onSettled()
  }

  /** Nothing was written, or something else than requested. */
  async #settledOtherwise(end: PlainEnd, receipt: Exclude<SettleReceipt, 'applied'>): Promise<void> {
    if (receipt !== 'unsealed') return this.#settled(end, await this.#otherwise(receipt, end.run.lease.envelope.id))
    await this.#settle(end.run, end.outcome, end.durationMs)
    this.#options.onSettled()
  }

  #notWritten(run: ActiveRun, error: unknown): void {
    const { name, id } = run.event
    this.#options.onFailed(`the end of ${name} (${id}) could not be written, so it will run again`, error)
  }

  /** Counts and announces an outcome that is on disk. */
  #tell(run: ActiveRun, settled: Outcome, durationMs: number, settleMs: number | null): void {
    const { logs, observers, keepOf } = this.#deps
    const { envelope } = run.lease
    logs?.ended(run, isKept(settled, keepOf(envelope.job)))
    count(this.#options.tally, settled.kind)
    if (observers.isOn) observers.ended(envelope, { outcome: outcomeWords[settled.kind], runMs: durationMs, settleMs })
    announce(this.#deps, run, settled, durationMs)
  }

  /** The outcome of a job that did not end as its run did: its children or a cancellation may have decided it. */
  async #otherwise(receipt: Exclude<FinalReceipt, 'applied'>, id: string): Promise<Outcome> {
    switch (receipt) {
      case 'lost':
        return { kind: 'lost' }
      case 'blocked':
        return { kind: 'wait' }
      case 'cancelled':
        return { kind: 'cancelled' }
      case 'failed':
        return { kind: 'dead', reason: 'dependency', error: new TreadleError('RUN_FAILED', await this.#whyFailed(id)) }
    }
  }

  async #whyFailed(id: string): Promise<string> {
    const record = await this.#deps.backend.store?.get(id).catch(() => null)
    return record?.errors.at(-1)?.message ?? 'A job that it created has failed'
  }

  /** Uses the clock of the queue, because due times are in queue time. */
  #now(): number {
    return (this.#deps.schedulesClock ?? this.#deps.clock).now()
  }

  /** Failing to write progress must not fail the job. */
  async #report(token: string, progress: string): Promise<void> {
    try {
      const job = this.#runOf(token)?.lease.envelope
      // Progress of a run that has ended is not written.
      if (job !== undefined) await this.#progress.add({ token, progress: storedProgress(progress, job, this.#deps.keys) })
    } catch (error) {
      this.#options.onFailed('the progress of a job could not be written', error)
    }
  }
}

/** Whether the job is still stored after this outcome. */
function isKept({ kind }: Outcome, keep: Keep): boolean {
  switch (kind) {
    case 'done':
      return keep.succeeded > 0
    case 'dead':
    case 'cancelled':
    case 'skipped':
      return keep[kind] > 0
    default:
      return true
  }
}
