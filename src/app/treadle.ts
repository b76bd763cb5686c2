import type { QueueBackend, SendReceipt } from '../backends/contract.ts'
import type { JobStore, TreeCancellation } from '../backends/store.ts'
import type { Duration } from '../core/duration.ts'
import { workingFolder } from '../core/environment.ts'
import { TreadleError } from '../core/errors.ts'
import { Events } from '../core/events.ts'
import { JobBuilder } from '../definition/builder.ts'
import type { JobDefinition } from '../definition/definition.ts'
import { type DispatchArguments, type Dispatcher, type DispatchOptions, dispatchOptions } from '../definition/dispatch.ts'
import { noPayload, PayloadDraft } from '../definition/draft.ts'
import type { Handler, HandlerClass } from '../definition/handler.ts'
import { Registry } from '../definition/registry.ts'
import type { Run } from '../definition/run.ts'
import { checkedSchemas, type Schema, type Schemas } from '../definition/schema.ts'
import type { ResultsOf, Step } from '../definition/workflow.ts'
import type { TreadleEvents } from '../execution/events.ts'
import type { ChildRequest } from '../execution/run-links.ts'
import { insideIsolate } from '../isolation/inside.ts'
import { ClaimableJobs } from '../worker/claimable-jobs.ts'
import { prune } from '../worker/maintenance.ts'
import type { DaemonOptions, RunOptions, WorkOptions } from '../worker/options.ts'
import type { RunReport } from '../worker/report.ts'
import type { Supervisor } from '../worker/supervisor/supervisor.ts'
import type { WorkerState } from '../worker/worker-state.ts'
import { sendChild } from './children.ts'
import { defaultUrl, Opening, type Place } from './opening.ts'
import type { TreadleOptions } from './options.ts'
import { retentionOf } from './retention.ts'
import { RunHandle, type RunHandleDeps } from './run-handle.ts'
import { RunWaiters } from './run-waiters.ts'
import { Schedules } from './schedules.ts'
import type { PlacedJob, Sending } from './sending.ts'
import { newSupervisor, type SuperviseOptions } from './supervising.ts'
import { type Why, whyOf } from './why.ts'
import type { Workflow } from './workflow.ts'
import type { WorkflowRun } from './workflow-run.ts'
import { type BatchCallbacks, type LastOf, Workflows } from './workflows.ts'
import { type DaemonReport, type StopOptions, Working } from './working.ts'

export type { TreadleOptions } from './options.ts'

/** A queue and the jobs of this program. Nothing is opened before it is first used. */
export function treadle(url: string = defaultUrl, options: TreadleOptions = {}): Treadle {
  if (typeof url !== 'string')
    throw new TreadleError('BACKEND_UNKNOWN', `A URL such as sqlite:jobs.db was expected, got ${String(url)}`)
  return new Treadle({ url, options, folder: workingFolder() })
}

type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input']
type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output']

export class Treadle implements AsyncDisposable {
  readonly #opening: Opening
  readonly #registry = new Registry()
  readonly #events: Events<TreadleEvents>
  readonly #waiters: RunWaiters
  readonly #dispatcher: Dispatcher
  readonly #handleDeps: RunHandleDeps
  readonly #workflows: Workflows
  /** Pausing, resuming and triggering schedules at run time. */
  readonly schedules: Schedules
  #working: Promise<Working> | undefined
  readonly #passes = new Set<Promise<Working>>()
  /** In an isolate a program is asked for its handlers, and runs nothing by itself. */
  readonly #inside = insideIsolate()

  /** A place that is a function is asked when the queue is first used. */
  constructor(place: Place | (() => Promise<Place>)) {
    this.#opening = new Opening(place)
    this.#events = new Events((message) => this.#opening.logger.error(message))
    this.#waiters = new RunWaiters(this.#events)
    this.#dispatcher = {
      dispatch: (definition, payload, options) => this.#dispatch(definition, payload, options),
      dispatchMany: (definition, payloads, options) => this.#dispatchMany(definition, payloads, options),
    }
    this.schedules = new Schedules({
      opened: () => this.#opening.open(),
      registry: this.#registry,
      dispatch: (definition) => this.#dispatch(definition, noPayload, {}),
    })
    this.#workflows = new Workflows({
      registry: this.#registry,
      sending: async () => (await this.#opening.open()).sending,
      send: (jobs) => this.#sendWorkflow(jobs),
      runOf: (job, { id, stored }) => new RunHandle(id, job, stored, this.#handleDeps),
      clock: async () => (await this.#opening.open()).settings.clock,
      store: () => this.store(),
      cancelTree: (id) => this.#cancelTree(id),
    })
    this.#handleDeps = {
      clock: async () => (await this.#opening.open()).settings.clock,
      store: () => this.store(),
      cancel: (id) => this.#cancel(id),
      cancelTree: (id) => this.#cancelTree(id),
      ended: (id, clock, longestMs, signal) => this.#waiters.ended(id, clock, longestMs, signal),
    }
    this.#inside?.programs.push({
      url: () => this.url,
      find: (job) => this.#registry.find(job),
      handle: ({ id, job, created }) => new RunHandle(id, job, created, this.#handleDeps),
      close: () => this.close(),
    })
  }

  /** Where the queue is, without passwords. The default instance knows it only after it was opened. */
  get url(): string {
    return this.#opening.url
  }

  /** Describes a job. The handler's types are those of every dispatch; a schema checks them at run time too. */
  define<Payload = unknown, Result = unknown>(job: string, handler: Handler<Payload, Result>): JobBuilder<Payload, Result>
  define<Input extends Schema, Result = unknown>(
    job: string,
    schemas: { readonly input: Input; readonly output?: Schema },
    handler: Handler<OutputOf<Input>, Result>,
  ): JobBuilder<InputOf<Input>, Result, OutputOf<Input>>
  define<Payload = unknown, Result = unknown>(
    job: string,
    schemas: { readonly output: Schema<unknown, Result> },
    handler: Handler<Payload, Result>,
  ): JobBuilder<Payload, Result>
  define(job: string, schemasOrHandler: Schemas | Handler<never, unknown>, handler?: Handler<never, unknown>): JobBuilder {
    const hasSchemas = typeof schemasOrHandler === 'object' && schemasOrHandler !== null && handler !== undefined
    const schemas = hasSchemas ? checkedSchemas(job, schemasOrHandler) : {}
    const work = hasSchemas ? handler : schemasOrHandler
    if (work === null)
      throw new TreadleError('HANDLER_INVALID', `The handler of "${job}" is null. For a job of another program, use declare().`)
    return this.#add(new JobBuilder(job, schemas, work as Handler<unknown, unknown>, this.#dispatcher))
  }

  /** Names a job that another program handles, so that this one can dispatch it. */
  declare<Payload = unknown, Result = unknown>(job: string): JobBuilder<Payload, Result> {
    return this.#add(new JobBuilder<Payload, Result>(job, {}, null, this.#dispatcher))
  }

  has(job: string): boolean {
    return this.#registry.has(job)
  }

  /** All definitions; asking freezes them. */
  definitions(): readonly JobDefinition[] {
    return this.#registry.definitions()
  }

  /** Everything that is wrong with the definitions. */
  problems(): readonly string[] {
    return this.#registry.problems()
  }

  /**
   * Puts a job into the queue; it is on disk when this resolves. The job is named by its builder, its name or its class. A
   * function in place of the payload is the handler of a job that is defined on the way; a duration in place of the options is
   * the delay.
   */
  dispatch<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    ...args: DispatchArguments<Input>
  ): Promise<Run<Awaited<Result>>>
  dispatch<Payload, Result>(
    job: HandlerClass<Payload, Result>,
    payload?: Payload,
    options?: DispatchOptions | Duration,
  ): Promise<Run<Awaited<Result>>>
  dispatch(job: string, payload?: unknown, options?: DispatchOptions | Duration): Promise<Run>
  async dispatch(job: Named, ...args: readonly unknown[]): Promise<Run> {
    const [given, optionsOrDelay] = args
    const handler = typeof job === 'string' && typeof given === 'function' ? (given as Handler<unknown, unknown>) : undefined
    const definition = this.#definitionOf(job, handler)
    const payload = handler !== undefined || args.length === 0 ? noPayload : given
    return this.#dispatch(definition, payload, dispatchOptions(optionsOrDelay))
  }

  /** Puts many jobs into the queue. Nothing is stored when one of the payloads is refused. */
  dispatchMany<Input, Result, Payload>(
    job: JobBuilder<Input, Result, Payload>,
    payloads: readonly NoInfer<Input>[],
    options?: DispatchOptions,
  ): Promise<readonly Run<Awaited<Result>>[]>
  dispatchMany(job: string, payloads: readonly unknown[], options?: DispatchOptions): Promise<readonly Run[]>
  async dispatchMany(job: Named, payloads: readonly unknown[], options: DispatchOptions = {}): Promise<readonly Run[]> {
    return this.#dispatchMany(this.#definitionOf(job, undefined), payloads, options)
  }

  /** A payload for a job that is named later: `jobs.args(payload).delay('1h').dispatch('send-email')`. */
  args(payload: unknown): PayloadDraft {
    return new PayloadDraft({}, (job, options) => this.#dispatch(this.#registry.get(job), payload, options))
  }

  /** Jobs one after the other: each step waits for the one before it, and is dead when that one fails. */
  chain<const Steps extends readonly Step[]>(steps: Steps): Promise<WorkflowRun<LastOf<Steps>>> {
    return this.#workflows.chain(steps)
  }

  /** Jobs beside each other, and what is to follow when all of them have ended. */
  batch<const Steps extends readonly Step[]>(
    steps: Steps,
    callbacks: BatchCallbacks = {},
  ): Promise<WorkflowRun<ResultsOf<Steps>>> {
    return this.#workflows.batch(steps, callbacks)
  }

  /** Jobs that wait for each other in any shape; nothing is stored before it is dispatched. */
  workflow(): Workflow {
    return this.#workflows.workflow()
  }

  /** A handle of a job that is known by its id. */
  handle(id: string, job = ''): Run {
    return new RunHandle(id, job, false, this.#handleDeps)
  }

  /** Opens the queue now, and brings its schema up to date. */
  async open(): Promise<QueueBackend> {
    return (await this.#opening.open()).backend
  }

  /** Looking into the queue; throws `CAPABILITY_MISSING` where the backend can not. */
  async store(): Promise<JobStore> {
    const { backend } = await this.#opening.open()
    if (backend.store !== undefined) return backend.store
    throw new TreadleError('CAPABILITY_MISSING', `The ${backend.kind} backend can not look into its queue`)
  }

  /** Works, and follows the schedules, until SIGTERM, SIGINT, `options.signal` or `stop()`. */
  work(options: WorkOptions = {}): Promise<RunReport> {
    return this.#keepWorking((working) => working.work(options))
  }

  /** The same on a fixed beat: looks at the schedules once each tick, on the minute, and says at the end how well it kept time. */
  daemon(options: DaemonOptions = {}): Promise<DaemonReport> {
    return this.#keepWorking((working) => working.daemon(options))
  }

  /** One pass: stores the occurrences that are due, then runs everything that is due until nothing is left. */
  run(options: RunOptions = {}): Promise<RunReport> {
    return this.#inside?.begin() ?? this.#pass(options)
  }

  /** Ends `work()` and `run()` in stages: no new jobs, wait for the running ones, abort them, give back what is left. */
  async stop(options: StopOptions = {}): Promise<void> {
    await Promise.all([this.#working, ...this.#passes].map(async (each) => (await each?.catch(() => undefined))?.stop(options)))
  }

  /** Watches over worker processes that the caller starts: `treadle work --processes` is made of it. */
  async supervise(options: SuperviseOptions): Promise<Supervisor> {
    return newSupervisor(options, { ...(await this.#opening.open()), events: this.#events, registry: this.#registry })
  }

  /** What keeps a job from running. Limits are those of the jobs and queues that this program knows. */
  async why(id: string): Promise<Why> {
    const { settings } = await this.#opening.open()
    const rules = { jobs: new ClaimableJobs(null).of(this.#registry.definitions()), queueLimits: settings.queueLimits }
    return whyOf(id, await this.store(), rules, settings.clock.now())
  }

  /** How the worker of this instance is doing; null while there is none. */
  async workerState(): Promise<WorkerState | null> {
    return (await this.#working?.catch(() => undefined))?.state ?? null
  }

  /** Stops, and lets go of the database. */
  async close(): Promise<void> {
    this.#opening.refuse()
    await this.stop()
    await this.#opening.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Removes ended jobs that were kept long enough, now. */
  async prune(): Promise<number> {
    const { backend, settings } = await this.#opening.open()
    return prune(backend, retentionOf(this.#registry, settings.keep), settings.clock)
  }

  /** Gives the function that stops listening. */
  on<Name extends keyof TreadleEvents>(name: Name, listener: (event: TreadleEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  async #keepWorking<Report>(work: (working: Working) => Promise<Report>): Promise<Report> {
    if (this.#inside !== undefined) return this.#inside.begin()
    if (this.#working !== undefined) {
      throw new TreadleError('WORKER_RUNNING', 'This instance works already. Call stop() first, or raise its concurrency.')
    }
    this.#working = this.#newWorking()
    try {
      return await work(await this.#working)
    } finally {
      this.#working = undefined
    }
  }

  async #pass(options: RunOptions): Promise<RunReport> {
    const pass = this.#newWorking()
    this.#passes.add(pass)
    try {
      return await (await pass).pass(options)
    } finally {
      this.#passes.delete(pass)
    }
  }

  #add<Builder extends { readonly job: string; toDefinition(): JobDefinition }>(builder: Builder): Builder {
    this.#registry.add(builder)
    return builder
  }

  #definitionOf(job: Named, handler: Handler<unknown, unknown> | undefined): JobDefinition {
    if (typeof job !== 'string' && typeof job !== 'function' && !(job instanceof JobBuilder)) {
      throw new TreadleError('JOB_UNKNOWN', `A job is named by a text, a builder or a class, got ${String(job)}`)
    }
    if (typeof job !== 'string' && 'toDefinition' in job) return job.toDefinition()
    const name = typeof job === 'string' ? job : job.name
    const work = typeof job === 'string' ? handler : (job as Handler<unknown, unknown>)
    if (work !== undefined && !this.#registry.has(name)) this.#defineOnTheWay(name, work)
    return this.#registry.get(name)
  }

  /** Refused before it is known: nobody could mend it afterwards. */
  #defineOnTheWay(job: string, handler: Handler<unknown, unknown>): void {
    const builder = new JobBuilder(job, {}, handler, this.#dispatcher)
    builder.toDefinition()
    this.#add(builder)
  }

  async #dispatch(definition: JobDefinition, payload: unknown, options: DispatchOptions): Promise<Run> {
    if (this.#inside?.isLoading) return this.#inside.begin()
    const { sending, backend } = this.#opening.opened ?? (await this.#opening.open())
    const receipt = await sending.send(definition, payload, options)
    if (backend.kind === 'sync') await this.#pass({ scheduler: false })
    return this.#runOf(definition, receipt)
  }

  async #dispatchMany(
    definition: JobDefinition,
    payloads: readonly unknown[],
    options: DispatchOptions,
  ): Promise<readonly Run[]> {
    if (this.#inside?.isLoading) return this.#inside.begin()
    const { sending, backend } = await this.#opening.open()
    const receipts = await sending.sendMany(definition, payloads, options)
    if (backend.kind === 'sync') await this.#pass({ scheduler: false })
    return receipts.map((receipt) => this.#runOf(definition, receipt))
  }

  #runOf(definition: JobDefinition, { id, stored }: SendReceipt): Run {
    return new RunHandle(id, definition.job, stored, this.#handleDeps)
  }

  async #cancel(id: string): Promise<Awaited<ReturnType<JobStore['cancel']>>> {
    const answer = await (await this.store()).cancel(id)
    if (answer === 'requested') for (const each of [this.#working, ...this.#passes]) (await each)?.cancel(id)
    return answer
  }

  async #dispatchChild(request: ChildRequest, sending: Sending): Promise<Run> {
    const receipt = await sendChild(request, this.#registry, sending)
    return new RunHandle(receipt.id, request.job, receipt.stored, this.#handleDeps)
  }

  async #cancelTree(id: string): Promise<TreeCancellation> {
    return (await this.store()).cancelTree(id)
  }

  async #sendWorkflow(jobs: readonly PlacedJob[]): Promise<readonly SendReceipt[]> {
    if (this.#inside?.isLoading) return this.#inside.begin()
    const { sending, backend } = await this.#opening.open()
    if (backend.store === undefined) throw new TreadleError('CAPABILITY_MISSING', `The ${backend.kind} backend has no workflows`)
    const receipts = await sending.sendWorkflow(jobs)
    if (backend.kind === 'sync') await this.run({ scheduler: false })
    return receipts
  }

  async #newWorking(): Promise<Working> {
    const { backend, keys, settings, sending } = await this.#opening.open()
    return new Working({
      url: this.url,
      backend,
      keys,
      settings,
      events: this.#events,
      registry: this.#registry,
      envelope: (definition, at, runAt) => sending.occurrence(definition, at, runAt),
      dispatchChild: (request) => this.#dispatchChild(request, sending),
    })
  }
}

type Named = string | Pick<JobBuilder, 'toDefinition'> | HandlerClass<never, unknown>
