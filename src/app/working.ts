import type { QueueBackend } from '../backends/contract.ts'
import { queueClock } from '../backends/queue-clock.ts'
import { hostName, processId } from '../core/environment.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { Events } from '../core/events.ts'
import { randomToken } from '../core/id.ts'
import { formatInstant } from '../core/instant.ts'
import type { JobDefinition } from '../definition/definition.ts'
import type { Registry } from '../definition/registry.ts'
import type { Envelope } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import type { TreadleEvents } from '../execution/events.ts'
import type { RunServices } from '../execution/run-context.ts'
import { IsolatePool } from '../isolation/pool.ts'
import { longestMisfireMs } from '../scheduling/misfire.ts'
import { workerConfig } from '../worker/config.ts'
import { Maintenance } from '../worker/maintenance.ts'
import type { DaemonOptions, RunOptions, WorkKind, WorkOptions } from '../worker/options.ts'
import type { Presence } from '../worker/presence.ts'
import type { RunReport } from '../worker/report.ts'
import type { Scheduler } from '../worker/scheduler.ts'
import { type SchedulerConfig, schedulerConfig } from '../worker/scheduler-config.ts'
import { onTermination } from '../worker/signals.ts'
import type { StartPace } from '../worker/start-rates.ts'
import { noTicks, type TickSummary } from '../worker/tick-statistics.ts'
import { Worker } from '../worker/worker.ts'
import type { WorkerState } from '../worker/worker-state.ts'
import { newPresence } from './announcing.ts'
import { newScheduler, wakeAfterRepeats } from './following.ts'
import type { Settings } from './options.ts'
import { isolateModules } from './program-modules.ts'
import { keepOf, retentionOf } from './retention.ts'
import { refuseUndeliverable } from './undeliverable.ts'

export interface WorkingDeps {
  /** Where the queue is, without passwords. */
  readonly url: string
  readonly backend: QueueBackend
  readonly keys: KeyRing | null
  readonly settings: Settings
  readonly events: Events<TreadleEvents>
  readonly registry: Registry
  readonly pace: StartPace
  readonly envelope: (definition: JobDefinition, at: number, runAt: number) => Promise<Envelope>
  readonly dispatchChild: RunServices['dispatchChild']
}

/** What a daemon did, and how well it kept time. */
export interface DaemonReport extends RunReport, TickSummary {}

export interface StopOptions {
  /** Do not wait for running jobs: abort their signals at once, and give them back. */
  readonly abort?: boolean
}

interface Worked {
  readonly report: RunReport
  readonly ticks: TickSummary
}

const isolateEntry = new URL('./isolate-entry.js', import.meta.url)
const maxResultBytes = 1024 * 1024

/** A worker with the scheduler and the housekeeping that belong to it, from start to end. */
export class Working {
  readonly #deps: WorkingDeps
  #worker: Worker | undefined
  #ended: Promise<unknown> | undefined
  /** Who works, for people and for the database. */
  readonly #owner = `${hostName()}:${processId()}:${randomToken().slice(0, 6)}`

  constructor(deps: WorkingDeps) {
    this.#deps = deps
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

  /** Undefined before it works. */
  get state(): WorkerState | undefined {
    return this.#worker?.state
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
      await (config?.at == null ? scheduler?.tick() : this.#tickAt(scheduler, config.at, options.jobs ?? null))
      if (options.signal?.aborted !== true) await worker.drain(options.limit)
    } finally {
      await worker.stop()
      await scheduler?.stop()
      await presence?.stop()
      options.signal?.removeEventListener('abort', stop)
      unlisten?.()
    }
    return reportOf(worker, scheduler)
  }

  /** One that ran and was forgotten could run again; one to come would be used up before its time. */
  async #tickAt(scheduler: Scheduler | undefined, at: number, jobs: readonly string[] | null): Promise<void> {
    const now = this.#deps.settings.clock.now()
    if (at > now || now - at > longestMisfireMs) {
      const message = `at must lie in the last 7 days, for which the runs of schedules are remembered, got ${formatInstant(at)}. A dry run may look at any time.`
      throw new TreadleError('CONFIG_INVALID', message)
    }
    await scheduler?.tickAt(at, jobs)
  }

  async #work(options: DaemonOptions, kind: 'work' | 'daemon'): Promise<Worked> {
    const { backend, settings, registry, events } = this.#deps
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
    const unwake = scheduler && wakeAfterRepeats(scheduler, registry, events)
    maintenance.start()
    presence?.start()
    try {
      // What was missed is sorted out before anything of it is run.
      await scheduler?.start()
      void scheduler?.ended().catch(stop)
      if (!worker.isStopping) events.emit('worker:started', { owner: this.#owner })
      await worker.work()
    } finally {
      unwake?.()
      await scheduler?.stop()
      await worker.stop()
      await maintenance.stop()
      await presence?.stop()
      options.signal?.removeEventListener('abort', stop)
      unlisten?.()
    }
    // Where the scheduler gave up, its reason is this one's too.
    await scheduler?.ended()
    return { report: reportOf(worker, scheduler), ticks: scheduler?.summary ?? noTicks }
  }

  #newWorker(options: DaemonOptions | RunOptions, kind: WorkKind): Worker {
    const { backend, keys, settings, events, registry, pace, dispatchChild } = this.#deps
    const config = workerConfig(options, kind)
    for (const job of config.jobs ?? []) registry.get(job)
    if (!registry.definitions().some(({ fields }) => fields.handler !== null)) {
      throw new TreadleError('CONFIG_INVALID', 'There is nothing to work on: no job is defined. Call define() first.')
    }
    refuseUndeliverable(registry.definitions(), config.jobs, backend)
    const { clock, logger, allow, queueLimits } = settings
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
      dispatchChild,
      schedules: backend.store?.schedules,
      schedulesClock: queueClock(backend, clock),
      environment: settings.environment,
      owner: this.#owner,
      isolates: new IsolatePool({
        entry: isolateEntry,
        program: this.#deps.url,
        size: config.concurrency,
        modulesOf: isolateModules,
        clock,
      }),
    })
  }

  #newScheduler(config: SchedulerConfig | null): Scheduler | undefined {
    const holder = { owner: this.#owner, host: hostName(), pid: processId() }
    return newScheduler(config, { ...this.#deps, holder, onError: (error) => this.#report(error) })
  }

  #newPresence(worker: Worker, scheduler: Scheduler | undefined): Presence | undefined {
    const { backend, settings } = this.#deps
    return newPresence(worker, scheduler, { backend, clock: settings.clock, onError: (error) => this.#report(error) })
  }

  #report(error: unknown): void {
    this.#deps.settings.logger.error(messageOf(error))
    this.#deps.events.emit('worker:error', { error })
  }
}

function reportOf(worker: Worker, scheduler: Scheduler | undefined): RunReport {
  return { ...worker.report, enqueued: scheduler?.enqueued ?? 0, failedSchedules: scheduler?.failed ?? 0 }
}
