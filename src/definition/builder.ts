import { type Duration, parseDuration } from '../core/duration.ts'
import { TreadleError } from '../core/errors.ts'
import type { Instant } from '../core/instant.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import type { JobContext } from './context.ts'
import { type DefinitionFields, definitionDefaults, type FilterContext, JobDefinition, type Keep } from './definition.ts'
import type { DispatchArguments, Dispatcher, DispatchOptions } from './dispatch.ts'
import { Draft, type DraftSender, draftIn, type FileDraft, payloadOf } from './draft.ts'
import { type Handler, handlerFunction, restricted } from './handler.ts'
import type { Meta } from './meta.ts'
import { countProblem, functionProblem, refuse } from './names.ts'
import { type Priority, priorityNumber, priorityProblem } from './priority.ts'
import { type RetryOptions, retryPolicy } from './retry.ts'
import type { Run } from './run.ts'
import type { Schemas } from './schema.ts'
import type { SqlTransaction } from './sql-transaction.ts'
import { Teamwork } from './teamwork.ts'
import type { CallerTransaction, SqliteConnection } from './transactions/caller-transaction.ts'
import type { Step } from './workflow.ts'

export type KeepOptions = { readonly [Outcome in keyof Keep]?: Duration }

/**
 * Describes a job, one call after the other, until it is first used; a later change throws `DEFINITION_FROZEN`.
 * `Input` is what a dispatch takes, `Payload` what the handler gets: they differ only where a schema transforms.
 */
export class JobBuilder<Input = unknown, Result = unknown, Payload = Input> extends Teamwork<Payload> {
  protected override fields: DefinitionFields
  #definition: JobDefinition | undefined
  readonly #dispatcher: Dispatcher

  constructor(job: string, schemas: Schemas, handler: Handler<Payload, Result> | null, dispatcher: Dispatcher) {
    super()
    this.#dispatcher = dispatcher
    this.fields = {
      ...definitionDefaults,
      job,
      name: job,
      handler: handler === null ? null : handlerFunction(job, handler),
      restricted: handler !== null && restricted in handler,
      input: schemas.input ?? null,
      output: schemas.output ?? null,
    }
  }

  override get job(): string {
    return this.fields.job
  }

  /** What people read in lists and logs in place of the key. */
  named(name: string): this {
    return this.set({ name })
  }

  queue(queue: string): this {
    return this.set({ queue })
  }

  /** Higher is sooner; the default is 5 (`normal`). */
  priority(priority: Priority): this {
    refuse(`Job "${this.job}"`, [priorityProblem(priority)])
    return this.set({ priority: priorityNumber(priority) })
  }

  /** So many more attempts after the first one failed, with a pause before each. */
  retries(retries: number, backoff?: RetryOptions): this {
    refuse(`Job "${this.job}"`, [countProblem(retries, 'retries')])
    if (backoff !== undefined) this.backoff(backoff)
    return this.set({ maxAttempts: retries + 1 })
  }

  maxRetries(retries: number): this {
    return this.retries(retries)
  }

  /** The same counted from the other end: the first attempt included. */
  maxAttempts(attempts: number): this {
    return this.set({ maxAttempts: attempts })
  }

  /** The pause before another attempt; the default doubles from one second to one minute, with full jitter. */
  backoff(options: RetryOptions): this {
    return this.set({ retry: retryPolicy(options) })
  }

  /** Errors for which this is false end the job at once. */
  retryIf(decide: (error: unknown) => boolean): this {
    return this.#given('retryIf', decide).set({ retryIf: decide })
  }

  /** How long ended jobs stay in the history; 0 deletes them at once. */
  keep(keep: KeepOptions): this {
    const entries = Object.entries(keep).map(([outcome, time]) => [outcome, parseDuration(time, `keep.${outcome}`)])
    return this.set({ keep: Object.fromEntries(entries) })
  }

  meta(meta: Meta): this {
    return this.set({ meta })
  }

  enabled(enabled = true): this {
    return this.set({ enabled })
  }

  disable(): this {
    return this.enabled(false)
  }

  /** The schedule is followed only where the program's environment is one of these. */
  environments(...environments: readonly (string | readonly string[])[]): this {
    return this.set({ environments: environments.flat() })
  }

  /** The payload of scheduled runs, and of dispatches that give none. */
  args(payload: Input): this {
    return this.set({ args: payload })
  }

  /** Runs only if all of these say true; otherwise the job ends as skipped and burns no attempt. */
  when(filter: (payload: Payload, context: FilterContext) => boolean | Promise<boolean>): this {
    return this.#given('when', filter).set({ when: [...this.fields.when, filter] })
  }

  /** Does not run if any of these says true. */
  skip(filter: (payload: Payload, context: FilterContext) => boolean | Promise<boolean>): this {
    return this.#given('skip', filter).set({ skip: [...this.fields.skip, filter] })
  }

  before(hook: (payload: Payload, context: JobContext<Payload>) => unknown): this {
    return this.#given('before', hook).set({ before: [...this.fields.before, hook] })
  }

  onSuccess(hook: (result: Awaited<Result>, payload: Payload, context: JobContext<Payload>) => unknown): this {
    return this.#given('onSuccess', hook).set({ onSuccess: [...this.fields.onSuccess, hook] })
  }

  onError(hook: (error: unknown, payload: Payload, context: JobContext<Payload>) => unknown): this {
    return this.#given('onError', hook).set({ onError: [...this.fields.onError, hook] })
  }

  finally(hook: (payload: Payload, context: JobContext<Payload>) => unknown): this {
    return this.#given('finally', hook).set({ finally: [...this.fields.finally, hook] })
  }

  /** The finished definition. From here on the builder is frozen. */
  toDefinition(): JobDefinition {
    this.#definition ??= new JobDefinition({ ...this.fields, ...this.recurrence(), schedule: this.#namedSchedule() })
    return this.#definition
  }

  async dispatch(...args: DispatchArguments<Input>): Promise<Run<Awaited<Result>>> {
    return this.#send(payloadOf(args), args[1] ?? {})
  }

  /** A job of a workflow: `jobs.chain([fetch.step(url), parse.step()])`. */
  step(...args: DispatchArguments<Input>): Step<Awaited<Result>> {
    return { job: this.job, payload: payloadOf(args), options: args[1] ?? {} }
  }

  async dispatchMany(payloads: readonly Input[], options: DispatchOptions = {}): Promise<readonly Run<Awaited<Result>>[]> {
    return (await this.#dispatcher.dispatchMany(this.toDefinition(), payloads, options)) as Run<Awaited<Result>>[]
  }

  /** A dispatch that is to wait for so long. */
  delay(delay: Duration): Draft<Input, Awaited<Result>> {
    return this.#draft().delay(delay)
  }

  /** A dispatch that is to wait for this instant. */
  at(at: Instant): Draft<Input, Awaited<Result>> {
    return this.#draft().at(at)
  }

  /** A dispatch in a transaction that the caller has begun: the job is there when that is committed. */
  in(tx: SqliteConnection | SqlTransaction): FileDraft<Input, Awaited<Result>>
  in(tx: CallerTransaction): Draft<Input, Awaited<Result>>
  in(tx: CallerTransaction | SqlTransaction): Draft<Input, Awaited<Result>> | FileDraft<Input, Awaited<Result>> {
    return draftIn(tx, {}, this.#sender())
  }

  protected override beforeChange(): void {
    if (this.#definition === undefined) return
    throw new TreadleError(
      'DEFINITION_FROZEN',
      `Job "${this.job}" is in use and can not be changed any more. Configure it where it is defined, or give options to dispatch().`,
    )
  }

  #given(word: string, value: unknown): this {
    refuse(`Job "${this.job}"`, [functionProblem(value, word)])
    return this
  }

  /** Which of many jobs has the schedule that is wrong. */
  #namedSchedule(): Schedule | null {
    try {
      return this.toSchedule()
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

  async #send(payload: unknown, options: DispatchOptions): Promise<Run<Awaited<Result>>> {
    return (await this.#dispatcher.dispatch(this.toDefinition(), payload, options)) as Run<Awaited<Result>>
  }
}
