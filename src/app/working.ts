import type { QueueBackend } from '../backends/contract.ts'
import { hostName, processId } from '../core/environment.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import type { Events } from '../core/events.ts'
import { randomToken } from '../core/id.ts'
import type { JobDefinition, Keep } from '../definition/definition.ts'
import type { Registry } from '../definition/registry.ts'
import type { Envelope } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/key-ring.ts'
import type { TreadleEvents } from '../execution/events.ts'
import { type RunOptions, type WorkOptions, workerConfig } from '../worker/config.ts'
import { Maintenance, type Retention } from '../worker/maintenance.ts'
import type { RunReport } from '../worker/report.ts'
import { Scheduler } from '../worker/scheduler.ts'
import { onTermination } from '../worker/signals.ts'
import { Worker } from '../worker/worker.ts'
import type { Settings } from './options.ts'

export interface WorkingDeps {
  readonly backend: QueueBackend
  readonly keys: KeyRing | null
  readonly settings: Settings
  readonly events: Events<TreadleEvents>
  readonly registry: Registry
  readonly envelope: (definition: JobDefinition, at: number) => Promise<Envelope>
}

const maxResultBytes = 1024 * 1024

/** A worker with the scheduler and the housekeeping that belong to it, from start to end. */
export class Working {
  readonly #deps: WorkingDeps
  #worker: Worker | undefined
  #ended: Promise<unknown> | undefined
  #enqueued = 0

  constructor(deps: WorkingDeps) {
    this.#deps = deps
  }

  work(options: WorkOptions): Promise<RunReport> {
    const working = this.#work(options)
    this.#ended = working
    return working
  }

  pass(options: RunOptions): Promise<RunReport> {
    const passing = this.#pass(options)
    this.#ended = passing
    return passing
  }

  async stop(): Promise<void> {
    await this.#worker?.stop()
    await this.#ended?.catch(() => {})
  }

  cancel(id: string): void {
    this.#worker?.cancel(id)
  }

  async #pass(options: RunOptions): Promise<RunReport> {
    const worker = this.#newWorker(options, 'run')
    this.#worker = worker
    const scheduler = options.scheduler === false ? undefined : this.#newScheduler()
    const stop = () => void worker.stop()
    options.signal?.addEventListener('abort', stop)
    try {
      await scheduler?.tick()
      if (options.signal?.aborted !== true) await worker.drain(options.limit)
    } finally {
      await worker.stop()
      options.signal?.removeEventListener('abort', stop)
    }
    return { ...worker.report, enqueued: this.#enqueued }
  }

  async #work(options: WorkOptions): Promise<RunReport> {
    const { backend, settings } = this.#deps
    const worker = this.#newWorker(options, 'work')
    const scheduler = options.scheduler === false ? undefined : this.#newScheduler()
    const maintenance = new Maintenance(
      backend,
      () => retentionOf(this.#deps.registry, settings.keep),
      settings.clock,
      (error) => this.#report(error),
    )
    this.#worker = worker
    const stop = () => void worker.stop()
    const unlisten = options.signals === false ? undefined : onTermination(stop, () => worker.abort())
    options.signal?.addEventListener('abort', stop)
    if (options.signal?.aborted === true) stop()
    scheduler?.start()
    maintenance.start()
    try {
      await worker.work()
    } finally {
      await scheduler?.stop()
      await worker.stop()
      await maintenance.stop()
      options.signal?.removeEventListener('abort', stop)
      unlisten?.()
    }
    return { ...worker.report, enqueued: this.#enqueued }
  }

  #newWorker(options: WorkOptions | RunOptions, kind: 'work' | 'run'): Worker {
    const { backend, keys, settings, events, registry } = this.#deps
    const config = workerConfig(options, kind)
    for (const job of config.jobs ?? []) registry.get(job)
    if (!registry.definitions().some(({ fields }) => fields.handler !== null)) {
      throw new TreadleError('CONFIG_INVALID', 'There is nothing to work on: no job is defined. Call define() first.')
    }
    const { clock, logger, allow } = settings
    return new Worker(config, {
      backend,
      keys,
      clock,
      logger,
      events,
      allow,
      maxResultBytes,
      coordination: backend.coordination,
      definitions: () => registry.definitions(),
      find: (job) => registry.find(job),
      keepOf: keepOf(registry, settings.keep),
      owner: `${hostName()}:${processId()}:${randomToken().slice(0, 6)}`,
    })
  }

  #newScheduler(): Scheduler | undefined {
    const { backend, registry, settings, events, envelope } = this.#deps
    if (!registry.definitions().some(({ fields }) => fields.schedule !== null)) return undefined
    if (backend.store === undefined) {
      throw new TreadleError('CAPABILITY_MISSING', `The ${backend.kind} backend can not keep schedules`)
    }
    const { clock, logger, environment } = settings
    return new Scheduler({
      definitions: () => registry.definitions(),
      schedules: backend.store.schedules,
      envelope,
      clock,
      logger,
      environment,
      onError: (error) => this.#report(error),
      onEnqueued: (schedule, at) => {
        this.#enqueued++
        events.emit('schedule:enqueued', { schedule, at })
      },
    })
  }

  #report(error: unknown): void {
    this.#deps.settings.logger.error(messageOf(error))
    this.#deps.events.emit('worker:error', { error })
  }
}

export function retentionOf(registry: Registry, all: Keep): Retention {
  return { all, byJob: new Map(registry.definitions().map(({ job, fields }) => [job, fields.keep])) }
}

/** What a definition says of keeping goes before what the program says. */
function keepOf(registry: Registry, keep: Keep): (job: string) => Keep {
  const known = new Map<string, Keep>()
  return (job) => {
    let found = known.get(job)
    if (found === undefined) {
      found = { ...keep, ...registry.find(job)?.fields.keep }
      known.set(job, found)
    }
    return found
  }
}
