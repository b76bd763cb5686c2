import type { JobRecord } from '../backends/store.ts'
import { type Duration, parseDuration } from '../core/duration.ts'
import { TreadleError } from '../core/errors.ts'
import { type Json, toJson } from '../core/json.ts'
import type { Logger } from '../core/logger.ts'
import type { JobContext } from '../definition/context.ts'
import type { WorkTransaction } from '../definition/sql-transaction.ts'
import { childJobName } from '../definition/workflow.ts'
import type { Identity } from '../envelope/envelope.ts'
import type { ActiveRun } from './active-run.ts'
import { refusedReturn, SnoozeSignal } from './control.ts'
import { type LinkServices, RunLinks } from './run-links.ts'
import type { RunTransaction } from './transaction.ts'

/** What a run may ask of the worker that it runs in. */
export interface RunServices extends LinkServices {
  readonly logger: Logger
  /** The handler is about to be called. */
  started(run: ActiveRun): void
  /** The run was told to stop so long ago, and keeps its slot because it has not ended. */
  overran(run: ActiveRun, overrunMs: number): void
  /** Writes the progress of a lease. */
  report(token: string, progress: string): Promise<void>
  /** Writes that the handler of a lease is about to be called, for good; false when it is lost. */
  begin(token: string): Promise<boolean>
  /** A job as it is written now; null where it is gone, or the backend can not look. */
  recordOf(id: string): Promise<JobRecord | null>
  /** Renews a lease; false when it is lost. */
  extend(token: string): Promise<boolean>
}

const maxProgressBytes = 64 * 1024

/**
 * The context of one run. Its costly parts are made when they are first asked for. Handlers and hooks can write to none of them, and
 * nothing is decided by them: whoever decides asks the lease and the identity.
 */
export class RunContext implements JobContext<never> {
  readonly #payload: unknown
  readonly #identity: Identity
  readonly #run: ActiveRun
  readonly #services: RunServices
  #links: RunLinks | undefined

  constructor(identity: Identity, payload: unknown, run: ActiveRun, services: RunServices) {
    this.#payload = payload
    this.#identity = identity
    this.#run = run
    this.#services = services
    Object.freeze(this)
  }

  /** Of the type that the definition promises: the schema, or the dispatch's types, vouch for it. */
  get payload(): never {
    return this.#payload as never
  }

  get attempt(): number {
    return this.#run.lease.attempt
  }

  get id(): string {
    return this.#identity.id
  }

  get job(): string {
    return this.#identity.job
  }

  get name(): string {
    return this.#identity.name
  }

  get queue(): string {
    return this.#identity.queue
  }

  get group(): string | null {
    return this.#run.lease.envelope.group
  }

  get maxAttempts(): number {
    return this.#identity.maxRetries + 1
  }

  get occurrence(): Date | null {
    const { occurrence } = this.#identity
    return occurrence === null ? null : new Date(occurrence)
  }

  get meta(): Readonly<Record<string, Json>> {
    return this.#identity.meta
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  get logger(): Logger {
    return runLogger(this.#identity, this.#services.logger)
  }

  // The methods are made where they are asked for, so that a handler may take them apart: `(mail, { signal, progress }) => …`.

  get progress(): (value: Json) => Promise<void> {
    return async (value) => {
      const text = toJson(value, { what: `progress of "${this.name}"`, maxBytes: maxProgressBytes })
      await this.#services.report(this.#run.lease.token, text)
    }
  }

  get heartbeat(): () => Promise<boolean> {
    return async () => {
      const held = await this.#services.extend(this.#run.lease.token)
      if (!held) this.#run.stop('lost')
      return held
    }
  }

  get transaction(): JobContext['transaction'] {
    return async (work: (tx: WorkTransaction) => unknown) => (await this.#ending('transaction').run(work)) as never
  }

  get completeIn(): JobContext['completeIn'] {
    return (tx: unknown, result?: unknown) => this.#ending('completeIn').completeIn(tx, result) as never
  }

  get snooze(): (delay: Duration) => never {
    return (delay) => {
      if (this.#run.isBegunForGood) throw refusedReturn(this.job)
      return this.#run.leave(new SnoozeSignal(parseDuration(delay, 'snooze')))
    }
  }

  get dispatchChild(): JobContext['dispatchChild'] {
    return async (job: string | { readonly job: string }, ...args: readonly unknown[]) =>
      (await this.#linked().dispatchChild(childJobName(job), args)) as never
  }

  get children(): JobContext['children'] {
    return () => this.#linked().children()
  }

  get dependencies(): JobContext['dependencies'] {
    return () => this.#linked().dependencies()
  }

  #ending(word: string): RunTransaction {
    const { transaction } = this.#run
    if (transaction !== null) return transaction
    const message = `ctx.${word}() is for jobs of .delivery('effectively-once'): say so of "${this.job}"`
    throw new TreadleError('DELIVERY_INVALID', message)
  }

  #linked(): RunLinks {
    this.#links ??= new RunLinks(this.#run, this.#services)
    return this.#links
  }
}

// What one handler does to the class must not be what the next one sees.
Object.freeze(RunContext.prototype)

/** Prefixes every line with the job's name and id. */
export function runLogger({ name, id }: Pick<Identity, 'name' | 'id'>, logger: Logger): Logger {
  const prefix = `[${name} ${id}]`
  return {
    debug: (message) => logger.debug(`${prefix} ${message}`),
    info: (message) => logger.info(`${prefix} ${message}`),
    warn: (message) => logger.warn(`${prefix} ${message}`),
    error: (message) => logger.error(`${prefix} ${message}`),
  }
}
