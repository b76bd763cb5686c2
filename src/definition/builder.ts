import { TreadleError } from '../core/errors.ts'
import { type Speaker, say, speaking } from '../core/speaking.ts'
import { shown } from '../core/text/shown.ts'
import type { Duration } from '../core/time/duration.ts'
import type { Instant } from '../core/time/instant.ts'
import { SaidSchedule, scheduleWordNames } from '../scheduling/saying/said-schedule.ts'
import type { ScheduleWords } from '../scheduling/saying/schedule-words.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { type GivenFields, JobDefinition } from './definition.ts'
import type { DispatchArguments, Dispatcher, DispatchOptions } from './dispatching/dispatch.ts'
import { Draft, type DraftSender, draftIn, type FileDraft, payloadOf, payloadsOf } from './dispatching/draft.ts'
import type { Run } from './dispatching/run.ts'
import type { Step } from './dispatching/workflow.ts'
import { type Changes, givenValues, saidAlso } from './given-values.ts'
import { type Handler, handlerClassOf, handlerFunction } from './handler.ts'
import { jobNameProblem, refuse } from './names.ts'
import type { Schemas } from './schema.ts'
import type { CallerTransaction, SqliteConnection } from './transactions/caller-transaction.ts'
import type { SqlTransaction } from './transactions/sql-transaction.ts'
import { type DescriptionWords, descriptionWords } from './words/description-words.ts'
import { type HookWords, hookWords } from './words/hook-words.ts'
import { type LimitWords, limitWords } from './words/limit-words.ts'
import { type RecurrenceWords, recurrenceWords } from './words/recurrence-words.ts'
import { type RetryWords, retryWords } from './words/retry-words.ts'
import { type UniquenessWords, uniquenessWords } from './words/uniqueness-words.ts'
import type { SaidOfJob } from './words/word-table.ts'
import { type WorkflowWords, workflowWords } from './words/workflow-words.ts'

/** The builder methods that configure a job, except `args`, which also changes what a dispatch takes. */
export interface JobWords<Result, Payload>
  extends DescriptionWords,
    RetryWords<Result>,
    LimitWords<Payload>,
    UniquenessWords<Payload>,
    HookWords<Payload, Result>,
    ScheduleWords,
    RecurrenceWords,
    WorkflowWords {}

/**
 * Configures a job with chained calls until it is first used; later changes throw `DEFINITION_FROZEN`. `Input` is what a dispatch
 * accepts and `Payload` is what the handler receives; they differ only if a schema transforms the payload.
 */
export interface JobBuilder<Input = unknown, Result = unknown, Payload = Input> extends JobWords<Result, Payload> {
  readonly job: string
  /** The payload of scheduled runs, and of dispatches without one. */
  args(payload: Input): JobBuilder<Input | undefined, Result, Payload>
  /** Returns the finished definition and freezes the builder. */
  toDefinition(): JobDefinition<Input, Awaited<Result>>
  dispatch(...args: DispatchArguments<Input>): Promise<Run<Awaited<Result>>>
  dispatchMany(payloads: readonly Input[], options?: DispatchOptions): Promise<readonly Run<Awaited<Result>>[]>
  /** Creates a step of a workflow: `jobs.chain([fetch.step(url), parse.step()])`. */
  step(...args: DispatchArguments<Input>): Step<Awaited<Result>>
  /** Starts a dispatch that runs after this delay. */
  delay(delay: Duration): Draft<Input, Awaited<Result>>
  /** Starts a dispatch that runs no earlier than this instant; null means now. */
  at(at: Instant | null): Draft<Input, Awaited<Result>>
  /** Starts a dispatch inside a transaction that the caller has begun: the job exists once the transaction commits. */
  in(tx: SqliteConnection | SqlTransaction): FileDraft<Input, Awaited<Result>>
  in(tx: CallerTransaction): Draft<Input, Awaited<Result>>
}

type Meaning = (said: SaidOfJob, ...args: readonly unknown[]) => Changes

const meanings = new Map(
  Object.entries({
    ...descriptionWords,
    args: (_: SaidOfJob, args: unknown) => ({ args }),
    ...retryWords,
    ...limitWords,
    ...uniquenessWords,
    ...hookWords,
    ...recurrenceWords,
    ...workflowWords,
  }),
) as Map<string, Meaning>

const Spoken = speaking([...meanings.keys(), ...scheduleWordNames]) as abstract new <Result, Payload>() => JobWords<
  Result,
  Payload
> &
  Speaker

/** The implementation of `JobBuilder`, which is the part that users see. */
export class DescribedJob<Input = unknown, Result = unknown, Payload = Input>
  extends Spoken<Result, Payload>
  implements JobBuilder<Input, Result, Payload>
{
  readonly job: string
  declare args: JobBuilder<Input, Result, Payload>['args']
  /** The handler class; null if the handler is a function. */
  readonly handlerClass: unknown
  readonly #dispatcher: Dispatcher
  readonly #schedule = new SaidSchedule()
  #said: GivenFields
  #definition: JobDefinition<Input, Awaited<Result>> | undefined

  constructor(job: string, schemas: Schemas, handler: Handler<Payload, Result> | null, dispatcher: Dispatcher) {
    super()
    // No later call could correct it, and one wrong key would stop every job of the program.
    refuse(`Job ${typeof job === 'string' ? JSON.stringify(job) : shown(job)}`, [jobNameProblem(job)])
    this.job = job
    this.#dispatcher = dispatcher
    if (handler !== null) handlerFunction(job, handler)
    this.handlerClass = handlerClassOf(handler)
    this.#said = { job, handler: handler as Handler<never, unknown> | null, ...givenValues(schemas) }
  }

  override [say](word: string, args: readonly unknown[]): void {
    if (this.#definition !== undefined) throw this.#frozen()
    const meaning = meanings.get(word)
    if (meaning === undefined) this.#schedule.say(word, args)
    else this.#said = saidAlso(this.#said, meaning(this.#said as SaidOfJob, ...args))
  }

  toDefinition(): JobDefinition<Input, Awaited<Result>> {
    this.#definition ??= new JobDefinition<Input, Awaited<Result>>({ ...this.#said, ...this.#saidSchedule() }).usable()
    return this.#definition
  }

  async dispatch(...args: DispatchArguments<Input>): Promise<Run<Awaited<Result>>> {
    return (await this.#dispatcher.dispatch(this.toDefinition(), payloadOf(args), args[1] ?? {})) as Run<Awaited<Result>>
  }

  step(...args: DispatchArguments<Input>): Step<Awaited<Result>> {
    return { job: this.job, payload: payloadOf(args), options: args[1] ?? {} }
  }

  async dispatchMany(payloads: readonly Input[], options: DispatchOptions = {}): Promise<readonly Run<Awaited<Result>>[]> {
    return (await this.#dispatcher.dispatchMany(this.toDefinition(), payloadsOf(payloads), options)) as Run<Awaited<Result>>[]
  }

  delay(delay: Duration): Draft<Input, Awaited<Result>> {
    return this.#draft().delay(delay)
  }

  at(at: Instant | null): Draft<Input, Awaited<Result>> {
    return this.#draft().at(at)
  }

  in(tx: SqliteConnection | SqlTransaction): FileDraft<Input, Awaited<Result>>
  in(tx: CallerTransaction): Draft<Input, Awaited<Result>>
  in(tx: CallerTransaction | SqlTransaction): Draft<Input, Awaited<Result>> | FileDraft<Input, Awaited<Result>> {
    return draftIn(tx, {}, this.#sender())
  }

  /** Empty if there is no schedule; in that case no time zone was given either. */
  #saidSchedule(): Pick<GivenFields, 'schedule' | 'timezone'> {
    const schedule = this.#namedSchedule()
    return schedule === null ? {} : { schedule, timezone: this.#schedule.zone ?? null }
  }

  /** Adds the name of the job to the error message. */
  #namedSchedule(): Schedule | null {
    try {
      return this.#schedule.toSchedule()
    } catch (thrown) {
      if (!(thrown instanceof TreadleError)) throw thrown
      throw new TreadleError(thrown.code, `Job "${this.job}": ${thrown.message}`, { cause: thrown })
    }
  }

  #draft(): Draft<Input, Awaited<Result>> {
    return new Draft({}, this.#sender())
  }

  #sender(): DraftSender {
    return {
      send: (payload, options) => this.#dispatcher.dispatch(this.toDefinition(), payload, options),
      sendMany: (payloads, options) => this.#dispatcher.dispatchMany(this.toDefinition(), payloads, options),
      sendAtOnce: (payloads, options) => this.#dispatcher.dispatchAtOnce(this.toDefinition(), payloads, options),
    }
  }

  #frozen(): TreadleError {
    return new TreadleError(
      'DEFINITION_FROZEN',
      `Job "${this.job}" is in use and can no longer be changed. Configure it where it is defined, or give options to dispatch().`,
    )
  }
}
