import { messageOf, TreadleError } from '../../core/errors.ts'
import { ownFile } from '../../core/files/own-file.ts'
import { randomToken } from '../../core/id.ts'
import { hostName, processId } from '../../core/process/environment.ts'
import { RepeatedErrors } from '../../core/repeated-errors.ts'
import { fitsPattern } from '../../core/text/name-pattern.ts'
import { formatInstant } from '../../core/time/instant.ts'
import type { JobDefinition } from '../../definition/definition.ts'
import type { Registry } from '../../definition/registry.ts'
import type { KeyRing } from '../../envelope/keys/key-ring.ts'
import type { ExecutionDeps } from '../../execution/attempt/execute.ts'
import type { RunServices } from '../../execution/attempt/run-context.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import { IsolatePool } from '../../isolation/pool.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { longestMisfireMs } from '../../scheduling/misfire.ts'
import type { Observers } from '../../telemetry/observer.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { workerConfig } from '../../worker/config.ts'
import type { Presence } from '../../worker/health/presence.ts'
import type { WorkerState } from '../../worker/health/worker-state.ts'
import { Maintenance } from '../../worker/loop/maintenance.ts'
import { onTermination } from '../../worker/loop/signals.ts'
import type { DaemonOptions, RunOptions, WorkKind, WorkOptions } from '../../worker/options.ts'
import { JobLogs } from '../../worker/runs/job-logs.ts'
import type { RunReport } from '../../worker/runs/report.ts'
import type { StartPace } from '../../worker/runs/start-rates.ts'
import type { SealOccurrence } from '../../worker/scheduler/schedule-pass.ts'
import type { Scheduler } from '../../worker/scheduler/scheduler.ts'
import { type SchedulerConfig, schedulerConfig } from '../../worker/scheduler/scheduler-config.ts'
import { noTicks, type TickSummary } from '../../worker/scheduler/tick-statistics.ts'
import { Worker } from '../../worker/worker.ts'
import { type Alerts, newAlerts } from '../alerts/alerts.ts'
import type { Settings } from '../config/settings.ts'
import { refuseUndeliverable } from '../dispatching/undeliverable.ts'
import { isolateModules } from '../loading/program-modules.ts'
import { newPresence } from './announcing.ts'
import { newScheduler, wakeAfterRepeats } from './following.ts'
import { HomeDefinitions } from './home-definitions.ts'
import { keepOf, retentionOf } from './retention.ts'

export interface WorkingDeps {
  /** URL of the queue, without passwords. */
  readonly url: string
  readonly backend: QueueBackend
  readonly keys: KeyRing | null
  readonly settings: Settings
  readonly events: JobEvents
  readonly registry: Registry
  /** Whether this backend stores the schedule and the limits of a definition. */
  readonly isHome: (definition: JobDefinition) => boolean
  readonly pace: StartPace
  readonly envelope: SealOccurrence
  readonly children: RunServices['children']
  readonly telemetry: Telemetry
  /** The observers of the program, and the recorder of this queue's statistics. */
  readonly observers: Observers
  readonly flushStatistics: () => Promise<void>
  readonly givenFunctions: NonNullable<ExecutionDeps['givenFunctions']>
}

/** What a daemon did, and how punctual its ticks were. */
export interface DaemonReport extends RunReport, TickSummary {}

/** Options of `jobs.stop`. */
export interface StopOptions {
  /** Do not wait for running jobs: abort their signals immediately and release them. A second such call does not wait for their handlers either. */
  readonly abort?: boolean
}

interface Worked {
  readonly report: RunReport
  readonly ticks: TickSummary
}

const maxResultBytes = 1024 * 1024

function ownerOf(name: string | null): string {
  return `${name ?? hostName()}:${processId()}:${randomToken().slice(0, 6)}`
}

/** A worker together with its scheduler and maintenance, from start to end. */
export class Working {
  readonly #deps: WorkingDeps
  readonly #home: HomeDefinitions
  /** The log lines of its jobs; null if they are not stored. */
  readonly logs: JobLogs | null
  #worker: Worker | undefined
  #ended: Promise<unknown> | undefined
  /** Identifies the worker to people and to the database. */
  #owner = ownerOf(null)

  readonly #errors: RepeatedErrors

  constructor(deps: WorkingDeps) {
    this.#errors = new RepeatedErrors(deps.settings.clock)
    this.#deps = deps
    this.#home = new HomeDefinitions(deps.registry, deps.isHome)
    this.logs = newJobLogs(deps)
  }

  work(options: WorkOptions): Promise<RunReport> {
    return this.#until(this.#work(options, 'work').then(({ report }) => report))
  }

  daemon(options: DaemonOptions): Promise<DaemonReport> {
    return this.#until(this.#work(options, 'daemon').then(({ report, ticks }) => ({ ...report, ...ticks })))
  }

  pass(options: RunOptions): Promise<RunReport> {
    return this.#until(this.#pass(options))
  }

  async stop({ abort = false }: StopOptions): Promise<void> {
    const stopped = this.#worker?.stop()
    if (abort) this.#worker?.abort()
    await stopped
    await this.#ended?.catch(() => {})
  }

  /** Undefined before it starts working. */
  get state(): WorkerState | undefined {
    return this.#worker?.state
  }

  /** Whether the queue did not answer while the worker stopped. */
  get isUnanswered(): boolean {
    return this.#worker?.lastCalls.isSilent === true
  }

  cancel(id: string): void {
    this.#worker?.cancel(id)
  }

  #until<Report>(working: Promise<Report>): Promise<Report> {
    this.#ended = working
    return working
  }

  async #pass(options: RunOptions): Promise<RunReport> {
    const worker = this.#newWorker(options, 'run')
    this.#worker = worker
    const config = schedulerConfig(options, 'run')
    const scheduler = this.#newScheduler(config)
    const stop = () => void worker.stop()
    const unlisten = options.signals === true ? onTermination(stop, () => worker.abort()) : undefined
    const presence = this.#newPresence(worker, scheduler)
    options.signal?.addEventListener('abort', stop)
    presence?.startLater()
    try {
      const ticked = config?.at == null ? scheduler?.tick() : this.#tickAt(scheduler, config.at, options.jobs ?? null)
      await Promise.race([ticked, worker.stopped])
      if (options.signal?.aborted !== true) await worker.drain(options.limit)
    } finally {
      await worker.stop()
      await worker.lastCalls.ended(this.#deps.flushStatistics(), scheduler?.stop(), presence?.stop())
      options.signal?.removeEventListener('abort', stop)
      unlisten?.()
    }
    return reportOf(worker, scheduler)
  }

  /** An occurrence so old that its run is no longer remembered could run twice. One in the future would be used up too early. */
  async #tickAt(scheduler: Scheduler | undefined, at: number, jobs: readonly string[] | null): Promise<void> {
    const now = this.#deps.settings.clock.now()
    if (at > now || now - at > longestMisfireMs) {
      const message = `at must be within the last 7 days, which is how long scheduled runs are remembered, got ${formatInstant(at)}. A dry run may use any time.`
      throw new TreadleError('CONFIG_INVALID', message)
    }
    await scheduler?.tickAt(at, jobs)
  }

  async #work(options: DaemonOptions, kind: 'work' | 'daemon'): Promise<Worked> {
    const { backend, settings, events } = this.#deps
    const worker = this.#newWorker(options, kind)
    const scheduler = this.#newScheduler(schedulerConfig(options, kind))
    const maintenance = new Maintenance(
      backend,
      () => retentionOf(this.#deps.registry, settings.keep),
      queueClock(backend, settings.clock),
      (error) => this.#report(error),
    )
    const presence = this.#newPresence(worker, scheduler)
    this.#worker = worker
    const stop = () => void worker.stop()
    const unlisten = options.signals === false ? undefined : onTermination(stop, () => worker.abort())
    options.signal?.addEventListener('abort', stop)
    if (options.signal?.aborted === true) stop()
    const unwake = scheduler && wakeAfterRepeats(scheduler, events)
    const alerts = this.#newAlerts()
    maintenance.start()
    presence?.start()
    alerts?.start()
    try {
      // Decide about missed occurrences before running any jobs.
      await Promise.race([scheduler?.start(), worker.stopped])
      void scheduler?.ended().catch(stop)
      if (!worker.isStopping) events.emit('worker:started', { owner: this.#owner })
      await worker.work()
    } finally {
      unwake?.()
      const followed = scheduler?.stop()
      await worker.stop()
      const { flushStatistics } = this.#deps
      await worker.lastCalls.ended(followed, flushStatistics(), maintenance.stop(), alerts?.stop(), presence?.stop())
      options.signal?.removeEventListener('abort', stop)
      unlisten?.()
    }
    // If the scheduler gave up, this throws its error.
    await worker.lastCalls.ended(scheduler?.ended())
    return { report: reportOf(worker, scheduler), ticks: scheduler?.summary ?? noTicks }
  }

  #newWorker(options: DaemonOptions | RunOptions, kind: WorkKind): Worker {
    const { backend, keys, settings, events, registry, pace, children, givenFunctions, telemetry, observers } = this.#deps
    const config = workerConfig(options, kind)
    this.#owner = ownerOf(config.name)
    refuseUnknown(config.jobs ?? [], registry)
    if (!registry.definitions().some(({ fields }) => fields.handler !== null)) {
      throw new TreadleError('CONFIG_INVALID', 'There is nothing to run: no job is defined. Call define() first.')
    }
    const { clock, logger, allow, queueLimits } = settings
    refuseUndeliverable(this.#home.definitions(), config.jobs, backend, queueLimits)
    return new Worker(config, {
      backend,
      keys,
      clock,
      logger,
      events,
      allow,
      queueLimits,
      pace,
      maxResultBytes,
      coordination: backend.coordination,
      transactions: backend.transactions,
      definitions: () => registry.definitions(),
      find: (job) => registry.find(job),
      keepOf: keepOf(registry, settings.keep),
      children,
      givenFunctions,
      observers,
      tracer: telemetry.tracing,
      schedules: backend.store?.schedules,
      schedulesClock: queueClock(backend, clock),
      environment: settings.environment,
      owner: this.#owner,
      logs: this.logs,
      isolates: new IsolatePool({
        entry: () => ownFile('app/loading/isolate-entry.js'),
        program: this.#deps.url,
        size: config.concurrency,
        modulesOf: isolateModules,
        clock,
      }),
    })
  }

  #newScheduler(config: SchedulerConfig | null): Scheduler | undefined {
    const holder = { owner: this.#owner, host: hostName(), pid: processId() }
    return newScheduler(config, { ...this.#deps, registry: this.#home, holder, onError: (error) => this.#report(error) })
  }

  #newPresence(worker: Worker, scheduler: Scheduler | undefined): Presence | undefined {
    const { backend, settings } = this.#deps
    return newPresence(worker, scheduler, { backend, clock: settings.clock, onError: (error) => this.#report(error) })
  }

  #newAlerts(): Alerts | null {
    const { backend, settings, registry, url } = this.#deps
    return newAlerts(settings.alerts, { ...settings, backend, registry, url })
  }

  #report(error: unknown): void {
    const text = this.#errors.textOf(error)
    if (text !== null) this.#deps.settings.logger.error(text)
    this.#deps.events.emit('worker:error', { error })
  }
}

function newJobLogs({ backend, keys, settings }: WorkingDeps): JobLogs | null {
  const store = backend.store?.logs
  if (store === undefined || settings.logs === null) return null
  const { clock, logger, logs } = settings
  const onFailed = (what: string, error: unknown) => logger.warn(`${what}: ${messageOf(error)}`)
  return new JobLogs({ store, keys, clock, settings: logs, onFailed })
}

function reportOf(worker: Worker, scheduler: Scheduler | undefined): RunReport {
  return { ...worker.report, enqueued: scheduler?.enqueued ?? 0, failedSchedules: scheduler?.failed ?? 0 }
}

/** A pattern that matches no job is probably misspelled. */
function refuseUnknown(names: readonly string[], registry: Registry): void {
  for (const name of names) {
    if (!name.includes('*')) registry.get(name)
    else if (!registry.definitions().some(({ job }) => fitsPattern(name, job)))
      throw new TreadleError('JOB_UNKNOWN', `No job is defined whose key matches "${name}"`)
  }
}
