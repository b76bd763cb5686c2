import type { QueueBackend } from '../backends/contract.ts'
import { queueClock } from '../backends/queue-clock.ts'
import type { JobStore } from '../backends/store.ts'
import type { Upkeep } from '../backends/upkeep.ts'
import { workingFolder } from '../core/environment.ts'
import { TreadleError } from '../core/errors.ts'
import { Events } from '../core/events.ts'
import { noPayload } from '../definition/draft.ts'
import { refuseUnheard, type TreadleEvents } from '../execution/events.ts'
import { insideIsolate } from '../isolation/inside.ts'
import { ClaimableJobs } from '../worker/claimable-jobs.ts'
import { prune } from '../worker/maintenance.ts'
import type { DaemonOptions, RunOptions, WorkOptions } from '../worker/options.ts'
import type { RunReport } from '../worker/report.ts'
import { type StartPace, startPace } from '../worker/start-rates.ts'
import type { Supervisor } from '../worker/supervisor/supervisor.ts'
import type { WorkerState } from '../worker/worker-state.ts'
import { unsetHint } from './config.ts'
import { Dispatches } from './dispatches.ts'
import { Dispatching } from './dispatching.ts'
import { defaultUrl, Opening, type Place, type WaitOptions } from './opening.ts'
import type { TreadleOptions } from './options.ts'
import { retentionOf } from './retention.ts'
import type { RunHandleDeps } from './run-handle.ts'
import { RunWaiters } from './run-waiters.ts'
import { Schedules } from './schedules.ts'
import { refuseUnserved, type ServedQueue } from './served-queue.ts'
import { newSupervisor, type SuperviseOptions } from './supervising.ts'
import { type Why, whyOf } from './why.ts'
import { Workflows } from './workflows.ts'
import { type DaemonReport, type StopOptions, Working } from './working.ts'
import { Workings } from './workings.ts'

export type { TreadleOptions } from './options.ts'

/** Options that name the queue themselves. */
export type BackendOptions = TreadleOptions & Required<Pick<TreadleOptions, 'backend'>>

/** A queue and the jobs of this program. Nothing is opened before it is first used. */
export function treadle(url?: string, options?: TreadleOptions): Treadle
/** The same in a queue that is open already. */
export function treadle(options: BackendOptions): Treadle
export function treadle(...given: [place?: string | BackendOptions, options?: TreadleOptions]): Treadle {
  const [place, options = {}] = given
  const folder = workingFolder()
  if (given.length === 0) return new Treadle({ url: defaultUrl, options, folder })
  if (typeof place === 'string') return new Treadle({ url: place, options, folder })
  if (hasBackend(place)) return new Treadle({ url: defaultUrl, options: place, folder })
  const message = `A URL such as sqlite:jobs.db was expected, or { backend }, got ${String(place)}${unsetHint(place)}`
  throw new TreadleError('BACKEND_UNKNOWN', message)
}

function hasBackend(place: unknown): place is BackendOptions {
  return typeof place === 'object' && place !== null && 'backend' in place && place.backend !== undefined
}

export class Treadle extends Dispatching implements AsyncDisposable {
  protected override readonly dispatcher: Dispatches
  protected override readonly workflows: Workflows
  /** Pausing, resuming and triggering schedules at run time. */
  readonly schedules: Schedules
  readonly #opening: Opening
  readonly #events: Events<TreadleEvents>
  readonly #workings: Workings
  #pace: StartPace | undefined

  /** A place that is a function is asked when the queue is first used. */
  constructor(place: Place | (() => Promise<Place>)) {
    super()
    this.#opening = new Opening(place, (job) => this.#events.emit('job:unsigned', job))
    this.#events = new Events((message) => this.#opening.logger.error(message))
    this.#workings = new Workings((wait) => this.#newWorking(wait))
    const { registry } = this
    const handles = this.#handleDeps()
    const pass = () => this.#workings.pass({ scheduler: false })
    this.dispatcher = new Dispatches({ opening: this.#opening, registry, handles, pass })
    const opened = () => this.dispatcher.opened()
    this.schedules = new Schedules({
      opened,
      registry,
      dispatch: (definition) => this.dispatcher.dispatch(definition, noPayload, {}),
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
      handle: ({ id, job, created }) => this.dispatcher.handle(job, { id, stored: created }),
      close: () => this.close(),
    })
  }

  /** Where the queue is, without passwords. The default instance knows it only after it was opened. */
  get url(): string {
    return this.#opening.url
  }

  /** Opens the queue now, and brings its schema up to date. Given a signal, it waits until the database can be reached. */
  async open({ wait }: { readonly wait?: AbortSignal } = {}): Promise<QueueBackend> {
    const opened = wait === undefined ? this.#opening.open() : this.#opening.openWhenReachable({ signal: wait })
    return (await opened).backend
  }

  /** Looking into the queue; throws `CAPABILITY_MISSING` where the backend can not. */
  async store(): Promise<JobStore> {
    const { backend } = await this.#opening.use()
    if (backend.store !== undefined) return backend.store
    throw new TreadleError('CAPABILITY_MISSING', `The ${backend.kind} backend can not look into its queue`)
  }

  /** What a server needs that lets other programs use this queue. One that only shows it needs no key. */
  async served({ looksOnly = false }: { readonly looksOnly?: boolean } = {}): Promise<ServedQueue> {
    const { backend, keys, settings, sending } = await this.dispatcher.opened()
    refuseUnserved(backend)
    if (!looksOnly) keys?.ready()
    return { backend, keys, settings, registry: this.registry, newId: () => sending.newId() }
  }

  /** Looking after the database, also one whose schema this version can not work with; null where the queue is in none. */
  upkeep(): Promise<Upkeep | null> {
    return this.#opening.upkeep()
  }

  /** Works, and follows the schedules, until SIGTERM, SIGINT, `options.signal` or `stop()`. */
  work(options: WorkOptions = {}): Promise<RunReport> {
    return this.#workings.keep((working) => working.work(options), options?.signal)
  }

  /** The same on a fixed beat: looks at the schedules once each tick, on the minute, and says at the end how well it kept time. */
  daemon(options: DaemonOptions = {}): Promise<DaemonReport> {
    return this.#workings.keep((working) => working.daemon(options), options?.signal)
  }

  /** One pass: stores the occurrences that are due, then runs everything that is due until nothing is left. */
  run(options: RunOptions = {}): Promise<RunReport> {
    return insideIsolate()?.begin() ?? this.#workings.pass(options)
  }

  /** Ends `work()` and `run()` in stages: no new jobs, wait for the running ones, abort them, give back what is left. */
  async stop(options: StopOptions = {}): Promise<void> {
    await this.#workings.stop(options)
  }

  /** How the worker of this instance is doing; null while there is none. */
  workerState(): Promise<WorkerState | null> {
    return this.#workings.state()
  }

  /** Watches over worker processes that the caller starts: `treadle work --processes` is made of it. */
  async supervise(options: SuperviseOptions): Promise<Supervisor> {
    const opened = await this.#opening.open()
    opened.keys?.ready()
    return newSupervisor(options, { ...opened, events: this.#events, registry: this.registry })
  }

  /** What keeps a job from running. Limits are those of the jobs and queues that this program knows. */
  async why(id: string): Promise<Why> {
    const { settings } = await this.#opening.use()
    const rules = { jobs: new ClaimableJobs(null).of(this.registry.definitions()), queueLimits: settings.queueLimits }
    return whyOf(id, await this.store(), rules, settings.clock.now())
  }

  /** Removes ended jobs that were kept long enough, now. */
  async prune(): Promise<number> {
    const { backend, settings } = await this.dispatcher.opened()
    return prune(backend, retentionOf(this.registry, settings.keep), queueClock(backend, settings.clock))
  }

  /** Gives the function that stops listening. */
  on<Name extends keyof TreadleEvents>(name: Name, listener: (event: TreadleEvents[Name]) => void): () => void {
    refuseUnheard(name, listener)
    return this.#events.on(name, listener)
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

  #handleDeps(): RunHandleDeps {
    const waiters = new RunWaiters(this.#events)
    return {
      clock: async () => (await this.#opening.use()).settings.clock,
      keys: async () => (await this.#opening.use()).keys,
      store: () => this.store(),
      cancel: async (id) => {
        const answer = await (await this.store()).cancel(id)
        if (answer === 'requested') await this.#workings.cancel(id)
        return answer
      },
      cancelTree: async (id) => (await this.store()).cancelTree(id),
      ended: (id, clock, longestMs, signal) => waiters.ended(id, clock, longestMs, signal),
    }
  }

  async #newWorking(wait?: WaitOptions): Promise<Working> {
    const opened = wait === undefined ? this.#opening.open() : this.#opening.openWhenReachable(wait)
    const { backend, keys, settings, sending } = await opened
    // A worker without its key would take every job for a forged one.
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
      pace: this.#pace,
      envelope: (definition, at, runAt) => sending.occurrence(definition, at, runAt),
      dispatchChild: (request) => this.dispatcher.dispatchChild(request),
    })
  }
}
