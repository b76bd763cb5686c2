import { TreadleError } from '../core/errors.ts'
import { suggestion } from '../core/options.ts'
import { shown } from '../core/text/shown.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import type { Instant } from '../core/time/instant.ts'
import { calendarSchedule } from '../scheduling/calendar/calendar-schedule.ts'
import {
  defaultMisfire,
  type MisfireKind,
  type MisfireOptions,
  type MisfirePolicy,
  misfireKinds,
  misfirePolicy,
} from '../scheduling/misfire.ts'
import { describedSchedule, type ScheduleExpression } from '../scheduling/saying/expression.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import { definitionProblems } from './definition-problems.ts'
import { shapeProblems } from './field-shapes.ts'
import { type DefinitionFields, definitionDefaults } from './fields.ts'
import { type Changes, checkArgs, givenValues, saidAlso } from './given-values.ts'
import { type Handler, handlerClassOf, handlerFunction, restricted } from './handler.ts'
import { type Meta, travellingMeta } from './meta.ts'
import { refuse, switchProblem } from './names.ts'
import type { DeliveryMode } from './policies/delivery.ts'
import { type Dependency, dependencyOf, type JobReference } from './policies/dependency.ts'
import type { Grouping } from './policies/grouping.ts'
import { type IsolateKind, type IsolateOptions, type Isolation, isolationOf } from './policies/isolation.ts'
import { concurrencyOf, type Overlap, overlapOf, unscheduledProblem } from './policies/overlap.ts'
import { type Priority, priorityNumber, priorityProblem } from './policies/priority.ts'
import type { RateLimit } from './policies/rate.ts'
import type { Backoff, BackoffFunction, RetryPolicy } from './policies/retry.ts'
import { type KeyOf, keyMaker, type Uniqueness, unique } from './policies/uniqueness.ts'
import { completeFields, noRules, type ProgramRules, type SaidFields } from './program-rules.ts'
import { distinctTags, type Tags } from './tags.ts'
import { descriptionWords, type KeepOptions } from './words/description-words.ts'
import { limitWords } from './words/limit-words.ts'
import { retryWords } from './words/retry-words.ts'
import { uniquenessWords } from './words/uniqueness-words.ts'

export { type DefinitionFields, definitionDefaults, type Filter, type FilterContext, type Keep } from './fields.ts'

/** The fields of a new definition: the key, the handler, and whatever differs from the defaults. */
export type GivenFields = Pick<DefinitionFields, 'job'> &
  Partial<Omit<DefinitionFields, 'handler'>> & {
    /** A function, or a class with `handle`; null if another program does the work. */
    readonly handler: Handler<never, unknown> | null
  }

/** The fields of a new definition without schemas. */
export type InferredFields<Input, Result> = Omit<GivenFields, 'handler' | 'input' | 'output'> & {
  readonly handler: Handler<Input, Result> | null
  readonly input?: null
  readonly output?: null
}

/**
 * The definition of a job: complete, validated and frozen. Each `withX` method returns a changed copy. A definition can be
 * dispatched and registered like a builder; `Input` and `Result` exist for that.
 */
export class JobDefinition<Input = unknown, Result = unknown> {
  readonly fields: DefinitionFields
  readonly #said: SaidFields
  /**
   * Only for type inference. A method, so that a definition of any input is assignable where one without input is expected, as
   * with a builder.
   */
  declare readonly inputType?: { of(input: Input): void }['of']
  declare readonly resultType?: Result

  /** Without schemas, the types of the payload and the result are those of the handler. */
  constructor(given: InferredFields<Input, Result>, rules?: ProgramRules)
  constructor(given: GivenFields, rules?: ProgramRules)
  /** Completes the fields with the rules of its program, if it has one. */
  constructor(given: GivenFields, rules: ProgramRules = noRules) {
    if (typeof given !== 'object' || given === null) throw notFields(given)
    refuse(`Job ${JSON.stringify(given.job)}`, unknownFields(given))
    this.#said = saidFields(given)
    const fields = completeFields(this.#said, rules)
    refuse(`Job ${JSON.stringify(fields.job)}`, shapeProblems(fields))
    refuse(`Job ${JSON.stringify(fields.job)}`, definitionProblems(fields))
    checkArgs(fields.args, fields.job)
    const { meta, tags } = fields
    this.fields = Object.freeze({
      ...fields,
      meta: meta === definitionDefaults.meta ? meta : travellingMeta(meta),
      tags: tags === definitionDefaults.tags ? tags : distinctTags(tags),
    })
    Object.freeze(this)
  }

  /** Returns itself if it is ready for use. Throws if it has settings for the runs of a schedule, but no schedule. */
  usable(): this {
    refuse(`Job ${JSON.stringify(this.job)}`, [unscheduledProblem(this.fields)])
    return this
  }

  /** Whether the field was set on this job, and is not a default. */
  says(field: keyof DefinitionFields): boolean {
    return Object.hasOwn(this.#said, field)
  }

  /** The same definition completed with the rules of a program. */
  completedBy(rules: ProgramRules): JobDefinition<Input, Result> {
    return new JobDefinition(this.#said, rules)
  }

  get job(): string {
    return this.fields.job
  }

  /** The handler class; null if the handler is a function. */
  get handlerClass(): unknown {
    return this.fields.handlerClass
  }

  /** Returns itself, so that a definition can be used in place of a builder. */
  toDefinition(): this {
    return this
  }

  get maxRetries(): number {
    return this.fields.maxAttempts - 1
  }

  get singleInstance(): boolean {
    return this.concurrency === 1
  }

  /** Maximum number that run at once, across all workers; null is unlimited. */
  get concurrency(): number | null {
    return concurrencyOf(this.fields)
  }

  get overlap(): Overlap {
    return overlapOf(this.fields)
  }

  get misfire(): MisfirePolicy {
    const { misfire, schedule } = this.fields
    // Without a schedule no run can be missed, so any policy will do.
    return misfire ?? (schedule === null ? misfirePolicy('skip') : defaultMisfire(schedule))
  }

  /** Time after which an attempt fails; null is no limit. */
  get deadlineMs(): number | null {
    return this.fields.timeoutMs ?? this.fields.maxRunningTimeMs
  }

  /** Whether its schedule is active in this environment. */
  isFollowedIn(environment: string | null): boolean {
    const { schedule, enabled, environments } = this.fields
    const here = environments.length === 0 || (environment !== null && environments.includes(environment))
    return schedule !== null && enabled && here
  }

  /** Undefined resets a field to its default. */
  with(changes: Changes): JobDefinition<Input, Result> {
    return new JobDefinition(saidAlso(this.#said, changes))
  }

  /** The same definition under another key, so that one handler can serve several jobs. */
  withJob(job: string): JobDefinition<Input, Result> {
    return this.with({ job, name: this.says('name') ? this.fields.name : undefined })
  }

  /** Null is its key. */
  withName(name: string | null): JobDefinition<Input, Result> {
    return this.with(descriptionWords.named(this.#said, name))
  }

  /** Null uses the program's default. */
  withQueue(queue: string | null): JobDefinition<Input, Result> {
    return this.with({ queue: queue ?? undefined })
  }

  /** The name of the backend that stores its jobs; null is the default backend. */
  withBackend(backend: string | null): JobDefinition<Input, Result> {
    return this.with({ backend })
  }

  withPriority(priority: Priority): JobDefinition<Input, Result> {
    refuse(`Job ${JSON.stringify(this.job)}`, [priorityProblem(priority)])
    return this.with({ priority: priorityNumber(priority) })
  }

  /** Null uses the program's default. */
  withRetries(retries: number | null, backoff?: Backoff): JobDefinition<Input, Result> {
    return this.with(retryWords.retries(this.#said, retries, backoff))
  }

  /** Alias of `withRetries`. */
  withMaxRetries(retries: number | null): JobDefinition<Input, Result> {
    return this.withRetries(retries)
  }

  withMaxAttempts(attempts: number | null): JobDefinition<Input, Result> {
    return this.with(retryWords.maxAttempts(this.#said, attempts))
  }

  withRetry(retry: RetryPolicy | BackoffFunction): JobDefinition<Input, Result> {
    return this.with({ retry })
  }

  withTimeout(timeout: Duration | null): JobDefinition<Input, Result> {
    return this.with(limitWords.timeout(this.#said, timeout))
  }

  withMaxRunningTime(time: Duration | null): JobDefinition<Input, Result> {
    return this.with({ maxRunningTimeMs: time === null ? null : parseDuration(time, 'maxRunningTime') })
  }

  /** As the builder's `isolate()`, or the isolation of another definition. */
  withIsolation(isolation: IsolateKind | Isolation | null, options: IsolateOptions = {}): JobDefinition<Input, Result> {
    return this.with({ isolation: typeof isolation === 'string' ? isolationOf(this.job, isolation, options) : isolation })
  }

  withConcurrency(concurrency: number | null): JobDefinition<Input, Result> {
    return this.with({ concurrency })
  }

  withRate(rate: RateLimit | null): JobDefinition<Input, Result> {
    return this.with({ rate })
  }

  withGroup(group: (Pick<Grouping, 'key'> & Partial<Grouping>) | null): JobDefinition<Input, Result> {
    return this.with({ group: group === null ? null : { concurrency: null, rate: null, ...group } })
  }

  withSingleInstance(singleInstance = true): JobDefinition<Input, Result> {
    refuse(`Job ${JSON.stringify(this.job)}`, [switchProblem(singleInstance, 'singleInstance')])
    return this.with({ concurrency: singleInstance ? 1 : null })
  }

  /** A key alone is held until the job has ended. */
  withUnique(given: string | KeyOf | Uniqueness | null): JobDefinition<Input, Result> {
    const isKey = typeof given === 'string' || typeof given === 'function'
    return this.with({ unique: isKey ? unique(keyMaker(given, 'unique', `Job "${this.job}"`)) : given })
  }

  withIdempotencyKey(key: string | KeyOf | null): JobDefinition<Input, Result> {
    return this.with(uniquenessWords.idempotencyKey(this.#said, key))
  }

  withDelivery(delivery: DeliveryMode): JobDefinition<Input, Result> {
    return this.with({ delivery })
  }

  /**
   * A schedule, a string (cron, a symbol or a repeat), an object, or a function that builds one: `(runs) =>
   * runs.dailyAt('02:30')`.
   */
  withSchedule(schedule: Schedule | ScheduleExpression | null): JobDefinition<Input, Result> {
    if (schedule === null) return this.with({ schedule, timezone: undefined })
    if (isSchedule(schedule)) return this.with({ schedule, timezone: schedule.timezone })
    const said = describedSchedule(schedule)
    return this.with({ schedule: said.toSchedule(), timezone: said.zone ?? null })
  }

  withCronExpression(expression: string): JobDefinition<Input, Result> {
    return this.withSchedule((runs) => runs.cron(expression))
  }

  /** The time zone of its schedule; null is the program's. */
  withTimezone(zone: string | null): JobDefinition<Input, Result> {
    const { schedule } = this.fields
    if (schedule?.kind !== 'calendar') return this.with({ timezone: zone })
    return this.with({ schedule: calendarSchedule(schedule.fields, zone ?? schedule.timezone), timezone: zone })
  }

  /** Dispatched jobs do not run before this instant unless the dispatch gives another time; null means now. */
  withScheduledAt(at: Instant | null): JobDefinition<Input, Result> {
    return this.with(descriptionWords.scheduledAt(this.#said, at))
  }

  withOverlap(overlap: Overlap | null): JobDefinition<Input, Result> {
    return this.with({ overlap })
  }

  /** As the builder's `misfire()`, or a policy of another definition. */
  withMisfire(misfire: MisfireKind | MisfirePolicy | null, options?: MisfireOptions): JobDefinition<Input, Result> {
    const isPolicy = misfire === null || (typeof misfire === 'object' && misfireKinds.includes(misfire.kind))
    return this.with({ misfire: isPolicy ? misfire : misfirePolicy(misfire as MisfireKind, options) })
  }

  withAfter(...after: readonly OneOrMore<JobReference>[]): JobDefinition<Input, Result> {
    return this.with({ after: after.flat().map((each) => dependencyOf(each).job) })
  }

  withDependsOn(...dependsOn: readonly OneOrMore<JobReference | Dependency>[]): JobDefinition<Input, Result> {
    return this.with({ dependsOn: dependsOn.flat().map(dependencyOf) })
  }

  withEnvironments(...environments: readonly (string | readonly string[])[]): JobDefinition<Input, Result> {
    return this.with({ environments: environments.flat() })
  }

  withEnabled(enabled = true): JobDefinition<Input, Result> {
    return this.with({ enabled })
  }

  withMeta(meta: Meta): JobDefinition<Input, Result> {
    return this.with({ meta })
  }

  withTags(...tags: readonly (string | Tags)[]): JobDefinition<Input, Result> {
    return this.with({ tags: tags.flat() })
  }

  withArgs(args: Input): JobDefinition<Input | undefined, Result> {
    return this.with({ args })
  }

  withKeep(keep: KeepOptions): JobDefinition<Input, Result> {
    return this.with(descriptionWords.keep(this.#said, keep))
  }
}

const fieldNames = ['job', 'name', 'handler', ...Object.keys(definitionDefaults)]

type OneOrMore<Value> = Value | readonly Value[]

function notFields(given: unknown): TreadleError {
  const message = `A definition is made of its fields, such as new JobDefinition({ job: 'report', handler }), got ${shown(given)}`
  return new TreadleError('DEFINITION_INVALID', message)
}

/** A misspelt field would be ignored in silence. */
function unknownFields(given: GivenFields): readonly string[] {
  const unknown = Object.keys(given).filter((name) => !fieldNames.includes(name))
  return unknown.map((name) => `it has no field "${name}"${nearest(name)}`)
}

function nearest(name: string): string {
  const method = `with${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return method in JobDefinition.prototype ? `: say it with ${method}()` : suggestion(name, fieldNames)
}

function saidFields({ handler, ...given }: GivenFields): SaidFields {
  const { job, handlerClass, restricted: isRestricted } = given
  if (handler === null) return givenValues({ ...given, handler })
  return givenValues({
    ...given,
    handler: handlerFunction<never, unknown>(job, handler),
    handlerClass: handlerClass ?? handlerClassOf(handler),
    ...(isRestricted === undefined && restricted in handler && { restricted: true }),
  })
}

function isSchedule(value: Schedule | ScheduleExpression): value is Schedule {
  return typeof value === 'object' && 'kind' in value && 'expression' in value
}
