import { messageOf } from '../core/errors.ts'
import { Events } from '../core/events.ts'
import { refuseUnknownOptions, refuseWrongSignal } from '../core/options.ts'
import { refuseOldNode } from '../core/process/node-version.ts'
import { endedWithin } from '../core/time/ended-within.ts'
import type { JobContext } from '../definition/context.ts'
import type { Middleware, RunMiddleware } from '../definition/middleware.ts'
import { detailsOf, type EventDetail, type EventDetails } from '../execution/event-details.ts'
import { type JobEventName, refuseUnheard, type TreadleEvents } from '../execution/events.ts'
import type { JobEvents } from '../execution/job-events.ts'
import { insideIsolate } from '../isolation/inside.ts'
import type { QueueBackend } from '../queue/contract/contract.ts'
import type { JobStore, Pausable } from '../queue/contract/store.ts'
import type { Upkeep } from '../queue/contract/upkeep.ts'
import { queueClock } from '../queue/time/queue-clock.ts'
import { Telemetry } from '../telemetry/telemetry.ts'
import type { WorkerState } from '../worker/health/worker-state.ts'
import { prunable, prune } from '../worker/loop/maintenance.ts'
import type { DaemonOptions, RunOptions, WorkOptions } from '../worker/options.ts'
import type { RunReport } from '../worker/runs/report.ts'
import { type StartPace, startPace } from '../worker/runs/start-rates.ts'
import type { Supervisor } from '../worker/supervisor/supervisor.ts'
import { Opening, type Place, type WaitOptions } from './config/opening.ts'
import { defaultBackend, homeOf, OtherBackends } from './config/other-backends.ts'
import { Policies } from './config/policies.ts'
import { Dispatches } from './dispatching/dispatches.ts'
import { Dispatching } from './dispatching/dispatching.ts'
import { GivenFunctions } from './dispatching/given-functions.ts'
import { handleDeps } from './handles/handle-deps.ts'
import { type JobLog, type LogsOptions, readJobLog } from './handles/job-log.ts'
import { locatedHandles, type SearchedBackend } from './handles/located-handle.ts'
import type { RunHandleDeps } from './handles/run-handle.ts'
import { type Why, whyOf, whyWorkflow } from './handles/why.ts'
import { listenDetails } from './observing/events/event-filter.ts'
import type { EventsOptions } from './observing/events/event-options.ts'
import type { EventStream } from './observing/events/event-stream.ts'
import { QueueEvents } from './observing/events/queue-events.ts'
import { Metrics } from './observing/metrics.ts'
import { OpenTelemetryExport } from './observing/open-telemetry-export.ts'
import { Statistics } from './observing/statistics.ts'
import { setPausedIn } from './pausing.ts'
import { Schedules } from './schedules/schedules.ts'
import { everywhere } from './workers/everywhere.ts'
import { type PassHandlerOptions, passHandler } from './workers/pass-handler.ts'
import { keptFor, type PruneOptions, retentionOf } from './workers/retention.ts'
import { refuseUnserved, type ServedQueue } from './workers/served-queue.ts'
import { newSupervisor, type SuperviseOptions } from './workers/supervising.ts'
import { type DaemonReport, type StopOptions, Working } from './workers/working.ts'
import { Workings } from './workers/workings.ts'
import { Workflows } from './workflows/workflows.ts'

/** How long `close` waits for a queue that does not answer. */
const unansweredMs = 1_000

/** Options of `jobs.on`. */
export interface ListenOptions {
  /** Additional details to include in the events. */
  readonly include?: readonly EventDetail[]
}

/** What connects the backends of one program. */
interface Family {
  /** Name of this backend. */
  readonly name: string
  readonly root: Treadle
}

/** What an instance shares with other instances. */
interface Belonging {
  readonly policies?: Policies
  readonly family?: Family
}

/** A queue and the jobs of a program. `Added` is what its middleware adds to the context of handlers. */
export class Treadle<Added = unknown> extends Dispatching<Added> implements AsyncDisposable {
  protected override readonly dispatcher: Dispatches
  protected override readonly workflows: Workflows
  /** Creates, changes, pauses and triggers schedules at run time. */
  readonly schedules: Schedules
  /** Metrics of this program's jobs. Call `start()` to begin counting. */
  readonly metrics: Metrics
  readonly #telemetry: Telemetry
  readonly #opening: Opening
  readonly #events: JobEvents
  readonly #queueEvents: QueueEvents
  readonly #workings: Workings
  readonly #others: OtherBackends<Treadle>
  readonly #name: string
  readonly #handles: RunHandleDeps
  readonly #policies: Policies
  readonly #functions: GivenFunctions
  readonly #export: OpenTelemetryExport
  readonly #statistics: Statistics
  #pace: StartPace | undefined

  /** A place given as a function is called when the queue is first used. */
  constructor(place: Place | (() => Promise<Place>), { policies, family }: Belonging = {}) {
    super(family?.root.registry)
    refuseOldNode()
    const root = family?.root ?? this
    this.#name = family?.name ?? defaultBackend
    this.#policies = policies ?? (family === undefined ? new Policies() : family.root.#policies)
    if (family === undefined) this.#policies.onChange = () => this.registry.follow(this.#policies)
    this.#telemetry = family === undefined ? new Telemetry() : family.root.#telemetry
    this.#statistics = new Statistics(this.#telemetry.observers)
    this.#opening = new Opening(place, {
      telemetry: this.#telemetry,
      events: () => this.#events,
      onOpen: (settings) => root.#export.start(settings),
      onOpened: (opened) => this.#queueEvents.start(opened),
      onUnsigned: (job) => this.#events.emit('job:unsigned', job),
      onSettings: (settings) => this.#policies.settle(settings),
    })
    if (family === undefined) {
      this.#events = new Events((message) => this.#opening.logger.error(message))
      this.#others = new OtherBackends(
        () => this.#opening.place(),
        (name, at) => new Treadle(at, { family: { name, root: this } }),
      )
    } else {
      this.#events = family.root.#events.beside()
      this.#others = family.root.#others
    }
    this.#queueEvents = new QueueEvents({ events: this.#events, open: () => this.#opening.use() })
    this.#export = family === undefined ? new OpenTelemetryExport(this.#telemetry, () => this.metrics) : family.root.#export
    this.metrics = family === undefined ? this.#newMetrics() : family.root.metrics
    this.#workings = new Workings((wait) => this.#newWorking(wait))
    const { registry } = this
    this.#functions = new GivenFunctions(registry, this.#events)
    const home = { program: root, backend: this.#name }
    const handles = handleDeps({ home, opening: this.#opening, workings: this.#workings, events: this.#events })
    this.#handles = handles
    const pass = () => this.#workings.pass({ scheduler: false })
    const named = async (name: string) => ((await this.#others.named(name)) ?? root).dispatcher
    const located = (id: string) => locatedHandles(id, () => root.#searched())
    const functions = this.#functions
    this.dispatcher = new Dispatches({
      name: this.#name,
      opening: this.#opening,
      registry,
      handles,
      pass,
      named,
      located,
      functions,
      onLateMiddleware: (job, thrown) =>
        this.#opening.logger.warn(`a middleware around the dispatch of "${job}" failed after it: ${messageOf(thrown)}`),
    })
    const opened = () => this.dispatcher.opened()
    this.schedules = new Schedules({
      opened,
      registry,
      dispatch: (definition, payload) => this.dispatcher.dispatch(definition, payload, {}),
      isHome: (definition) => homeOf(definition) === this.#name,
    })
    this.workflows = new Workflows({
      ...handles,
      registry,
      send: (make, options) => this.dispatcher.dispatchWorkflow(make, options),
      sendAtOnce: (make, tx) => this.dispatcher.dispatchWorkflowAtOnce(make, tx),
    })
    insideIsolate()?.programs.push({
      url: () => this.url,
      find: (job) => registry.find(job),
      keyOf: (given) => this.sharedKeyOf(given),
      handle: ({ id, job, created }) => this.dispatcher.handle(job, { id, stored: created }),
      close: () => this.close(),
    })
  }

  /** URL of the queue, without passwords. For the default instance, it is only known once the queue has been opened. */
  get url(): string {
    return this.#opening.url
  }

  /** Where the workers of a broker share their state, without passwords. Null if the queue itself keeps it. */
  coordination(): Promise<string | null> {
    return this.#opening.coordination()
  }

  /** Opens the queue now and migrates its schema. With a signal, it waits for an unreachable database until the signal aborts. */
  async open(options: { readonly wait?: AbortSignal } = {}): Promise<QueueBackend> {
    refuseUnknownOptions(options, ['wait'], 'open')
    const { wait } = options
    refuseWrongSignal(wait, 'open', 'wait')
    const opened = wait === undefined ? this.#opening.open() : this.#opening.openWhenReachable({ signal: wait })
    return (await opened).backend
  }

  /** Read and manage stored jobs. Throws `CAPABILITY_MISSING` if the backend does not support it. */
  store(): Promise<JobStore> {
    return this.#opening.store()
  }

  /** What a server needs to let other programs use this queue. A read-only server needs no key. */
  async served({ looksOnly = false }: { readonly looksOnly?: boolean } = {}): Promise<ServedQueue> {
    const { backend, keys, settings, sending } = await this.dispatcher.opened()
    refuseUnserved(backend)
    if (!looksOnly) {
      keys?.ready()
      this.registry.definitions()
    }
    return {
      backend,
      keys,
      settings,
      registry: this.registry,
      newId: () => sending.newId(),
      observers: this.#statistics.observers(backend, settings),
      events: this.#events,
      streamEvents: (options) => this.#queueEvents.stream(options),
    }
  }

  /** Maintenance of the database, even if this version cannot work with its schema. Null if the queue is not in a database. */
  upkeep(): Promise<Upkeep | null> {
    return this.#opening.upkeep()
  }

  /** Runs jobs and follows the schedules until SIGTERM, SIGINT, `options.signal` or `stop()`. */
  work(options: WorkOptions = {}): Promise<RunReport> {
    return this.#everywhere(options, (each) => each.#workings.keep((working) => working.work(options), options?.signal))
  }

  /**
   * Like `work`, but with a fixed tick: checks the schedules once per tick, aligned to the minute. The report says how punctual
   * the ticks were.
   */
  daemon(options: DaemonOptions = {}): Promise<DaemonReport> {
    return this.#everywhere(options, (each) => each.#workings.keep((working) => working.daemon(options), options?.signal))
  }

  /** A single pass: enqueues the occurrences that are due, then runs all due jobs until none is left. */
  run(options: RunOptions = {}): Promise<RunReport> {
    return insideIsolate()?.begin() ?? this.#everywhere(options, (each) => each.#workings.pass(options))
  }

  /** A fetch handler that makes one bounded pass per request, for serverless platforms and cron endpoints. */
  handler(options: PassHandlerOptions): (request: Request) => Promise<Response> {
    return passHandler((pass) => this.run(pass), options)
  }

  /** Ends `work()` and `run()` in stages: stops claiming jobs, waits for the running ones, aborts them, and releases the rest. */
  async stop(options: StopOptions = {}): Promise<void> {
    refuseUnknownOptions(options, ['abort'], 'stop')
    await Promise.all(this.#made.map((each) => each.#workings.stop(options)))
  }

  /** One of several backends as an instance of its own. It shares definitions and events with the others. */
  async backend(name: string): Promise<Treadle> {
    return (await this.#others.named(name)) ?? this
  }

  /** The names of all backends, the default one first. */
  async backendNames(): Promise<readonly string[]> {
    return [this, ...(await this.#others.all())].map((each) => each.#name)
  }

  /** The state of this instance's worker; null if there is none. */
  workerState(): Promise<WorkerState | null> {
    return this.#workings.state()
  }

  /** Supervises worker processes that the caller starts. `treadle work --processes` is built on it. */
  async supervise(options: SuperviseOptions): Promise<Supervisor> {
    const opened = await this.#opening.open()
    opened.keys?.ready()
    return newSupervisor(options, { ...opened, events: this.#events, registry: this.registry })
  }

  /**
   * Explains why a job is not running, or why a workflow has not ended. It takes into account the limits of the jobs and queues
   * that this program knows.
   */
  async why(id: string): Promise<Why> {
    const { settings } = await this.#opening.use()
    const program = { registry: this.registry, settings }
    const store = await this.store()
    return (await whyWorkflow(id, store, program)) ?? whyOf(id, store, program)
  }

  /** The stored log of a job, including what its program printed: all attempts, oldest line first. */
  async logs(id: string, options: LogsOptions = {}): Promise<JobLog> {
    refuseUnknownOptions(options, ['after'], 'logs')
    const { keys } = await this.#opening.use()
    const { logs } = await this.store()
    await this.#workings.flushLogs()
    return readJobLog(logs, id, options, keys)
  }

  /** Workers claim no more jobs of this queue, or with this key, until `resume`. Running jobs continue. */
  async pause(target: Pausable): Promise<void> {
    await setPausedIn(await this.store(), target, true)
  }

  /** Ends a `pause`. */
  async resume(target: Pausable): Promise<void> {
    await setPausedIn(await this.store(), target, false)
  }

  /**
   * Deletes ended jobs now: those whose retention has expired, or with `olderThan`, all that ended longer ago than that. Returns
   * how many. With `dryRun` it only counts them.
   */
  async prune(options: PruneOptions = {}): Promise<number> {
    refuseUnknownOptions(options, ['olderThan', 'dryRun'], 'prune')
    const { olderThan, dryRun = false } = options
    const { backend, settings } = await this.dispatcher.opened()
    const retention = olderThan === undefined ? retentionOf(this.registry, settings.keep) : keptFor(olderThan)
    const clock = queueClock(backend, settings.clock)
    return dryRun ? prunable(backend, retention, clock) : prune(backend, retention, clock)
  }

  /**
   * Adds middleware around handlers, dispatches or both: for all jobs, or for those whose keys match a pattern such as `mail-*`.
   * The middleware that was added first is outermost. Use `More` to extend the context: jobs defined on the returned instance see
   * the additional members.
   */
  use<More extends object = object>(middleware: RunMiddleware<More> | Middleware<More>): Treadle<Added & More>
  use<More extends object = object>(pattern: string, middleware: RunMiddleware<More> | Middleware<More>): Treadle<Added & More>
  use(...given: readonly [unknown] | readonly [pattern: string, middleware: unknown]): this {
    if (given.length === 1) this.#policies.wrap(undefined, given[0])
    else this.#policies.wrap(given[0], given[1])
    return this
  }

  /** Adds a hook for all jobs, which runs after the job's own hooks. The same goes for `onSuccess`, `onError` and `finally`. */
  before(hook: (payload: unknown, context: JobContext) => unknown): this {
    this.#policies.add('before', hook)
    return this
  }

  onSuccess(hook: (result: unknown, payload: unknown, context: JobContext) => unknown): this {
    this.#policies.add('onSuccess', hook)
    return this
  }

  onError(hook: (error: unknown, payload: unknown, context: JobContext) => unknown): this {
    this.#policies.add('onError', hook)
    return this
  }

  finally(hook: (payload: unknown, context: JobContext) => unknown): this {
    this.#policies.add('finally', hook)
    return this
  }

  /** Treats certain results of any job as failures, such as `(result) => result === false`. */
  failWhen(isFailure: (result: unknown) => boolean): this {
    this.#policies.add('failWhen', isFailure)
    return this
  }

  /** Listens to events in this process. Returns a function that stops listening. */
  on<Name extends keyof TreadleEvents>(name: Name, listener: (event: TreadleEvents[Name]) => void): () => void
  /** The same, with additional details about the job. Details are only computed if a listener includes them. */
  on<Name extends JobEventName>(
    name: Name,
    listener: (event: TreadleEvents[Name] & EventDetails) => void,
    options: ListenOptions,
  ): () => void
  on<Name extends keyof TreadleEvents>(
    name: Name,
    listener: (event: TreadleEvents[Name] & EventDetails) => void,
    options: ListenOptions = {},
  ): () => void {
    refuseUnheard(name, listener)
    const include = new Set(listenDetails(options))
    if (include.size === 0) return this.#events.on(name, (event) => listener(event))
    return this.#events.on(name, (event, subject) =>
      listener(subject === undefined ? event : { ...event, ...detailsOf(subject, include) }),
    )
  }

  /** Streams events from all processes of this queue while it is being read: `for await (const event of jobs.events())`. */
  events(options: EventsOptions = {}): EventStream {
    return this.#queueEvents.stream(options)
  }

  /** Stops the workers and closes the database. */
  async close(): Promise<void> {
    for (const each of this.#made) each.#opening.refuse()
    await this.stop()
    const closing = this.#closeAll()
    // A queue that did not answer while its worker stopped has had its time.
    if (this.#made.some((each) => each.#workings.isUnanswered)) await endedWithin(unansweredMs, closing)
    else await closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  protected noteRedefined(job: string, file: string): void {
    this.#opening.logger.warn(`the job "${job}" was defined again by ${file}, which was loaded again: its new definition counts`)
  }

  /** This instance; for the root, also all other backends created so far. */
  get #made(): readonly Treadle[] {
    return this.#name === defaultBackend ? [this, ...this.#others.made] : [this]
  }

  async #closeAll(): Promise<void> {
    for (const each of this.#made) await each.#statistics.flush()
    for (const each of this.#made) await each.#queueEvents.close()
    for (const each of this.#made) await each.#opening.close()
    if (this.#name === defaultBackend) this.#export.close()
  }

  async #searched(): Promise<readonly SearchedBackend[]> {
    const all = [this, ...(await this.#others.all())]
    return all.map((each) => ({ handles: each.#handles, store: async () => (await each.#opening.use()).backend.store }))
  }

  /** Runs in all backends, or only in the one that the options name. */
  #everywhere<Report extends RunReport>(
    options: Pick<WorkOptions, 'backend'>,
    act: (each: Treadle) => Promise<Report>,
  ): Promise<Report> {
    if (this.#name !== defaultBackend) return act(this)
    const { backend: only } = Object(options) as Pick<WorkOptions, 'backend'>
    const isMeant = only === undefined || only === defaultBackend
    return everywhere({
      own: isMeant ? () => act(this) : null,
      others: async () => (isMeant && (await this.#isAlone()) ? [] : (await this.#others.all(only)).map(act)),
      stop: () => this.stop(),
    })
  }

  /** If the place cannot be determined, opening it reports the error. */
  async #isAlone(): Promise<boolean> {
    const place = await this.#opening.place().catch(() => undefined)
    return place?.options.backends === undefined
  }

  #newMetrics(): Metrics {
    const backends = () =>
      this.#made.flatMap((each) => {
        const { opened } = each.#opening
        if (opened === undefined) return []
        const workerState = () => each.#workings.state()
        return [{ name: each.#name, backend: opened.backend, clock: opened.settings.clock, workerState }]
      })
    return new Metrics({ observers: this.#telemetry.observers, events: this.#events, backends })
  }

  async #newWorking(wait?: WaitOptions): Promise<Working> {
    const opened = wait === undefined ? this.#opening.open() : this.#opening.openWhenReachable(wait)
    const { backend, keys, settings, sending } = await opened
    // Without its key, a worker would treat every job as forged.
    keys?.ready()
    const { clock, queueLimits } = settings
    this.#pace ??= startPace({ definitions: () => this.registry.definitions(), queueLimits, clock })
    return new Working({
      url: this.url,
      backend,
      keys,
      settings,
      events: this.#events,
      registry: this.registry,
      isHome: (definition) => homeOf(definition) === this.#name,
      pace: this.#pace,
      envelope: (definition, at, runAt, stored) => sending.occurrence(definition, at, runAt, stored),
      children: {
        definitionOf: (given) => this.definitionOf(given),
        dispatch: (request) => this.dispatcher.dispatchChild(request),
      },
      givenFunctions: this.#functions.handlers,
      telemetry: this.#telemetry,
      observers: this.#statistics.observers(backend, settings),
      flushStatistics: () => this.#statistics.flush(),
    })
  }
}
