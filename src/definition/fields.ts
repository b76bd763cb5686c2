import { frozenCopy } from '../core/frozen.ts'
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
/** What `when` and `skip` filters know about the run. */
export type FilterContext = Pick<JobContext, 'id' | 'job' | 'name' | 'queue' | 'attempt' | 'meta' | 'occurrence'>
export type Hook = (payload: never, context: JobContext<never>) => unknown
export type SuccessHook = (result: never, payload: never, context: JobContext<never>) => unknown
export type ErrorHook = (error: unknown, payload: never, context: JobContext<never>) => unknown

export type FailWhen = (result: never) => boolean

/** How long finished jobs are kept, in milliseconds; 0 deletes them at once. */
export interface Keep {
  readonly succeeded: number
  readonly dead: number
  readonly cancelled: number
  readonly skipped: number
}

/** All fields of a definition, complete and frozen. */
export interface DefinitionFields {
  readonly job: string
  /** Null if another program does the work and this one only dispatches. */
  readonly handler: HandlerFunction<never, unknown> | null
  /** The handler class; null if the handler is a function. */
  readonly handlerClass: HandlerClass<never, unknown> | null
  /** The handler reaches outside the program, so it runs only if an allowlist names the job. */
  readonly restricted: boolean
  readonly name: string
  readonly input: Schema | null
  readonly output: Schema | null
  readonly queue: string
  /** The name of the backend that stores its jobs; null is the default backend. */
  readonly backend: string | null
  readonly priority: number
  readonly maxAttempts: number
  readonly retry: RetryPolicy | BackoffFunction
  readonly retryIf: ((error: unknown) => boolean) | null
  /** Decide whether a result counts as a failure. */
  readonly failWhen: readonly FailWhen[]
  readonly timeoutMs: number | null
  /** Like `timeoutMs`, but a run that continues past it keeps its slot. */
  readonly maxRunningTimeMs: number | null
  /** Null if the handler runs in the worker itself. */
  readonly isolation: Isolation | null
  /** Maximum number of its jobs that run at once across all workers, as given; null is unlimited. */
  readonly concurrency: number | null
  /** Maximum number of its jobs that start within a period of time, across all workers. */
  readonly rate: RateLimit | null
  readonly group: Grouping | null
  readonly unique: Uniqueness | null
  readonly idempotencyKey: KeyOf | null
  readonly idempotencyTtlMs: number
  readonly delivery: DeliveryMode
  /** Whether payloads are stored encrypted; null uses the setting of the instance. */
  readonly encrypt: boolean | null
  /** How long to wait for other jobs. */
  readonly longestWaitMs: number
  readonly onChildFailure: ChildFailure
  readonly keep: Partial<Keep>
  readonly meta: Meta
  readonly tags: Tags
  readonly enabled: boolean
  /** The schedule is active only in these environments; an empty list means all. */
  readonly environments: readonly string[]
  readonly schedule: Schedule | null
  /** The time zone given for the schedule; null is the program's. */
  readonly timezone: string | null
  /** Dispatched jobs do not run before this instant (UTC milliseconds) unless the dispatch gives another time. */
  readonly scheduledAt: number | null
  /** Null uses the default; see `overlapOf`. */
  readonly overlap: Overlap | null
  readonly misfire: MisfirePolicy | null
  /** Jobs whose occurrences at the same instant are enqueued before those of this one. */
  readonly after: readonly string[]
  /** Jobs whose runs must have succeeded before a scheduled run of this one starts. */
  readonly dependsOn: readonly Dependency[]
  /** The payload of scheduled runs, and of dispatches without one. */
  readonly args: unknown
  readonly when: readonly Filter[]
  readonly skip: readonly Filter[]
  readonly before: readonly Hook[]
  readonly onSuccess: readonly SuccessHook[]
  readonly onError: readonly ErrorHook[]
  readonly finally: readonly Hook[]
  /** The program's middleware around the handler and around dispatches, outermost first. */
  readonly around: readonly RunMiddleware[]
  readonly aroundDispatch: readonly DispatchMiddleware[]
}

export const definitionDefaults = frozenCopy({
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
} as const) satisfies Partial<DefinitionFields>
