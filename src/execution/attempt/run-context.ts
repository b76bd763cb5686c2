import { TreadleError } from '../../core/errors.ts'
import type { SoundLogger } from '../../core/logger.ts'
import type { RepeatedErrors } from '../../core/repeated-errors.ts'
import { type Json, toJson } from '../../core/text/json.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { JobContext } from '../../definition/context.ts'
import type { JobLogger, LogMethod } from '../../definition/job-logger.ts'
import type { WorkTransaction } from '../../definition/transactions/sql-transaction.ts'
import type { Identity } from '../../envelope/envelope.ts'
import type { JobRecord } from '../../queue/contract/store.ts'
import type { ActiveRun } from './active-run.ts'
import { refusedReturn, SnoozeSignal } from './control.ts'
import { type LinkServices, RunLinks } from './run-links.ts'
import { type RunLog, runLogger } from './run-logger.ts'
import type { RunTransaction } from './transaction.ts'

/** What a run may ask of its worker. */
export interface RunServices extends LinkServices {
  readonly logger: SoundLogger
  /** Keeps failed calls that are retried from flooding the log. */
  readonly errors: RepeatedErrors
  /** Where the log lines of a run are stored; undefined or null if they are not. */
  logOf?(run: ActiveRun): RunLog | null
  /** The handler is about to be called. */
  started(run: ActiveRun): void
  /** The run was told to stop `overrunMs` ago, and keeps its slot because it has not ended. */
  overran(run: ActiveRun, overrunMs: number): void
  /** Stores the progress of a lease. */
  report(token: string, progress: string): Promise<void>
  /** Records that the handler of a lease is about to be called and must not be begun again. False if the lease is lost. */
  begin(token: string): Promise<boolean>
  /** A job as it is stored now; null if it is gone, or the backend cannot inspect its jobs. */
  recordOf(id: string): Promise<JobRecord | null>
  /** Renews a lease; false if it is lost. */
  extend(token: string): Promise<boolean>
}

const noTags: readonly string[] = Object.freeze([])
const maxProgressBytes = 64 * 1024

/**
 * The context of one run. Its costly parts are created on first use. Handlers and hooks cannot modify them, and no decision
 * depends on them: decisions use the lease and the identity.
 */
export class RunContext implements JobContext<never> {
  readonly #payload: unknown
  readonly #identity: Identity
  readonly #run: ActiveRun
  readonly #services: RunServices
  readonly maxAttempts: number
  #links: RunLinks | undefined
  #logger: JobLogger | undefined

  constructor(identity: Identity, payload: unknown, run: ActiveRun, services: RunServices, maxAttempts: number) {
    this.#payload = payload
    this.#identity = identity
    this.#run = run
    this.#services = services
    this.maxAttempts = maxAttempts
    Object.freeze(this)
  }

  /** Has the type that the definition promises, as ensured by the schema or by the types of the dispatch. */
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

  get occurrence(): Date | null {
    const { occurrence } = this.#identity
    return occurrence === null ? null : new Date(occurrence)
  }

  get meta(): Readonly<Record<string, Json>> {
    return this.#identity.meta
  }

  get tags(): readonly string[] {
    return this.#identity.tags ?? noTags
  }

  get signal(): AbortSignal {
    return this.#run.signal
  }

  get logger(): JobLogger {
    const { logger, logOf } = this.#services
    this.#logger ??= runLogger(this.#identity, logger, logOf?.(this.#run) ?? null)
    return this.#logger
  }

  get log(): LogMethod {
    return this.logger.info
  }

  // Methods are created on access, so that a handler may destructure them: `(mail, { signal, progress }) => …`.

  get progress(): (value: Json) => Promise<void> {
    return this.#call(async (value: Json) => {
      const text = toJson(value, { what: `progress of "${this.name}"`, maxBytes: maxProgressBytes })
      await this.#services.report(this.#run.lease.token, text)
    })
  }

  get heartbeat(): () => Promise<boolean> {
    return this.#call(async () => {
      const held = await this.#run.asked(() => this.#services.extend(this.#run.lease.token))
      if (!held) this.#run.stop('lost')
      return held
    })
  }

  get transaction(): JobContext['transaction'] {
    return this.#call(async (work: (tx: WorkTransaction) => unknown) => (await this.#ending('transaction').run(work)) as never)
  }

  get completeIn(): JobContext['completeIn'] {
    return (tx: unknown, result?: unknown) => {
      const answer = this.#ending('completeIn').completeIn(tx, result)
      return (answer instanceof Promise ? this.#run.called(answer) : answer) as never
    }
  }

  get snooze(): (delay: Duration) => never {
    return (delay) => {
      if (this.#run.isBegunForGood) throw refusedReturn(this.job)
      return this.#run.leave(new SnoozeSignal(parseDuration(delay, 'snooze')))
    }
  }

  get dispatchChild(): JobContext['dispatchChild'] {
    return this.#call(
      async (job: unknown, ...args: readonly unknown[]) => (await this.#linked().dispatchChild(job, args)) as never,
    )
  }

  get children(): JobContext['children'] {
    return this.#call(() => this.#linked().children())
  }

  get dependencies(): JobContext['dependencies'] {
    return this.#call(() => this.#linked().dependencies())
  }

  /** Its handler may return without waiting for the answer: the run waits for it then. */
  #call<Args extends readonly unknown[], Answer>(ask: (...args: Args) => Promise<Answer>): (...args: Args) => Promise<Answer> {
    return (...args) => this.#run.called(ask(...args))
  }

  #ending(word: string): RunTransaction {
    const { transaction } = this.#run
    if (transaction !== null) return transaction
    const message = `ctx.${word}() is for jobs with .delivery('effectively-once'): add that to "${this.job}"`
    throw new TreadleError('DELIVERY_INVALID', message)
  }

  #linked(): RunLinks {
    this.#links ??= new RunLinks(this.#run, this.#services)
    return this.#links
  }
}

// Keeps one handler's changes to the class from affecting the next.
Object.freeze(RunContext.prototype)
