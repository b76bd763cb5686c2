import type { MisfirePolicy } from '../scheduling/misfire.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import type { JobContext } from './context.ts'
import { type ChildFailure, defaultLongestWaitMs } from './dispatching/workflow.ts'
import type { HandlerClass, HandlerFunction } from './handler.ts'
import type { Meta } from './meta.ts'
import type { DispatchMiddleware, RunMiddleware } from './middleware.ts'
import type { DeliveryMode } from './policies/delivery.ts'
import type { Dependency } from './policies/dependency.ts'
import type { Grouping } from './policies/grouping.ts'
import type { Isolation } from './policies/isolation.ts'
import type { Overlap } from './policies/overlap.ts'
import { defaultPriority } from './policies/priority.ts'
import type { RateLimit } from './policies/rate.ts'
import { type BackoffFunction, defaultRetryPolicy, type RetryPolicy } from './policies/retry.ts'
import type { KeyOf, Uniqueness } from './policies/uniqueness.ts'
import type { Schema } from './schema.ts'
import type { Tags } from './tags.ts'

export type Filter = (payload: never, context: FilterContext) => boolean | Promise<boolean>
/** What `when` and `skip` know of the run that they decide about. */
export type FilterContext = Pick<JobContext, 'id' | 'job' | 'name' | 'queue' | 'attempt' | 'meta' | 'occurrence'>
export type Hook = (payload: never, context: JobContext<never>) => unknown
export type SuccessHook = (result: never, payload: never, context: JobContext<never>) => unknown
export type ErrorHook = (error: unknown, payload: never, context: JobContext<never>) => unknown

export type FailWhen = (result: never) => boolean

/** How long ended jobs are kept, in milliseconds; 0 deletes at once. */
export interface Keep {
  readonly succeeded: number
  readonly dead: number
  readonly cancelled: number
  readonly skipped: number
}

/** Everything that a definition says, complete and frozen. */
export interface DefinitionFields {
  readonly job: string
  /** Null where another program does the work and this one only dispatches. */
  readonly handler: HandlerFunction<never, unknown> | null
  /** The class that the handler was made of; null where it is a function. */
  readonly handlerClass: HandlerClass<never, unknown> | null
  /** The handler reaches out of the program: it runs only where an allowlist names the job. */
  readonly restricted: boolean
  readonly name: string
  readonly input: Schema | null
  readonly output: Schema | null
  readonly queue: string
  /** The name of the backend that its jobs are kept in; null is the default one. */
  readonly backend: string | null
  readonly priority: number
  readonly maxAttempts: number
  readonly retry: RetryPolicy | BackoffFunction
  readonly retryIf: ((error: unknown) => boolean) | null
  /** Results that count as failures. */
  readonly failWhen: readonly FailWhen[]
  readonly timeoutMs: number | null
  /** As `timeoutMs`, but a run that goes on after it keeps its slot. */
  readonly maxRunningTimeMs: number | null
  /** Null where the handler runs in the worker itself. */
  readonly isolation: Isolation | null
  /** Jobs of this definition that may run at once over all workers, as it was said; null is unlimited. */
  readonly concurrency: number | null
  /** At most this many of them are started within a time, over all workers. */
  readonly rate: RateLimit | null
  readonly group: Grouping | null
  readonly unique: Uniqueness | null
  readonly idempotencyKey: KeyOf | null
  readonly idempotencyTtlMs: number
  readonly delivery: DeliveryMode
  /** Whether payloads are stored encrypted; null is as the instance says. */
  readonly encrypt: boolean | null
  /** How long it waits for other jobs. */
  readonly longestWaitMs: number
  readonly onChildFailure: ChildFailure
  readonly keep: Partial<Keep>
  readonly meta: Meta
  readonly tags: Tags
  readonly enabled: boolean
  /** The schedule is followed only in these environments; an empty list is all of them. */
  readonly environments: readonly string[]
  readonly schedule: Schedule | null
  /** The zone that was said of the schedule; null is the program's. */
  readonly timezone: string | null
  /** Dispatches do not run before this instant (UTC milliseconds), unless they say another. */
  readonly scheduledAt: number | null
  /** Null is by rule: see `overlapOf`. */
  readonly overlap: Overlap | null
  readonly misfire: MisfirePolicy | null
  /** Jobs whose occurrences of the same instant are enqueued before those of this one. */
  readonly after: readonly string[]
  /** Jobs whose runs must have succeeded before a scheduled run of this one begins. */
  readonly dependsOn: readonly Dependency[]
  /** The payload of scheduled runs, and of dispatches that give none. */
  readonly args: unknown
  readonly when: readonly Filter[]
  readonly skip: readonly Filter[]
  readonly before: readonly Hook[]
  readonly onSuccess: readonly SuccessHook[]
  readonly onError: readonly ErrorHook[]
  readonly finally: readonly Hook[]
  /** What the program wraps around its handler and its dispatches, outermost first. */
  readonly around: readonly RunMiddleware[]
  readonly aroundDispatch: readonly DispatchMiddleware[]
}

export const definitionDefaults = {
  handlerClass: null,
  restricted: false,
  input: null,
  output: null,
  queue: 'default',
  backend: null,
  priority: defaultPriority,
  maxAttempts: 1,
  retry: defaultRetryPolicy,
  retryIf: null,
  failWhen: [],
  timeoutMs: null,
  maxRunningTimeMs: null,
  isolation: null,
  concurrency: null,
  rate: null,
  group: null,
  unique: null,
  idempotencyKey: null,
  idempotencyTtlMs: 86_400_000,
  delivery: 'at-least-once',
  encrypt: null,
  longestWaitMs: defaultLongestWaitMs,
  onChildFailure: 'fail',
  keep: {},
  meta: {},
  tags: [],
  enabled: true,
  environments: [],
  schedule: null,
  timezone: null,
  scheduledAt: null,
  overlap: null,
  misfire: null,
  after: [],
  dependsOn: [],
  args: null,
  when: [],
  skip: [],
  before: [],
  onSuccess: [],
  onError: [],
  finally: [],
  around: [],
  aroundDispatch: [],
} as const satisfies Partial<DefinitionFields>
