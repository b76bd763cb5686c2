import type { MisfirePolicy } from '../scheduling/misfire.ts'
import type { Schedule } from '../scheduling/schedule.ts'
import type { JobContext } from './context.ts'
import type { DeliveryMode } from './delivery.ts'
import type { Dependency } from './dependency.ts'
import type { Grouping } from './grouping.ts'
import type { HandlerFunction } from './handler.ts'
import type { Isolation } from './isolation.ts'
import type { Meta } from './meta.ts'
import type { Overlap } from './overlap.ts'
import { defaultPriority } from './priority.ts'
import type { RateLimit } from './rate.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts'
import type { Schema } from './schema.ts'
import type { KeyOf, Uniqueness } from './uniqueness.ts'
import { type ChildFailure, defaultLongestWaitMs } from './workflow.ts'

export type Filter = (payload: never, context: FilterContext) => boolean | Promise<boolean>
export type FilterContext = Pick<JobContext, 'id' | 'job' | 'name' | 'queue' | 'attempt' | 'meta' | 'occurrence'>
export type Hook = (payload: never, context: JobContext<never>) => unknown
export type SuccessHook = (result: never, payload: never, context: JobContext<never>) => unknown
export type ErrorHook = (error: unknown, payload: never, context: JobContext<never>) => unknown

/** How long ended jobs are kept, in milliseconds; 0 deletes at once. */
export interface Keep {
  readonly succeeded: number
  readonly dead: number
  readonly cancelled: number
  readonly skipped: number
}

export interface DefinitionFields {
  readonly job: string
  /** Null where another program does the work and this one only dispatches. */
  readonly handler: HandlerFunction<never, unknown> | null
  /** The handler reaches out of the program: it runs only where an allowlist names the job. */
  readonly restricted: boolean
  readonly name: string
  readonly input: Schema | null
  readonly output: Schema | null
  readonly queue: string
  readonly priority: number
  readonly maxAttempts: number
  readonly retry: RetryPolicy
  readonly retryIf: ((error: unknown) => boolean) | null
  readonly timeoutMs: number | null
  /** As `timeoutMs`, but a run that goes on after it keeps its slot. */
  readonly maxRunningTimeMs: number | null
  /** Null where the handler runs in the worker itself. */
  readonly isolation: Isolation | null
  /** Jobs of this definition that may run at once over all workers, as it was said; null is unlimited. */
  readonly concurrency: number | null
  /** At most so many of them are started within a time, over all workers. */
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
  readonly enabled: boolean
  /** The schedule is followed only in these environments; an empty list is all of them. */
  readonly environments: readonly string[]
  readonly schedule: Schedule | null
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
}

export const definitionDefaults = {
  restricted: false,
  input: null,
  output: null,
  queue: 'default',
  priority: defaultPriority,
  maxAttempts: 1,
  retry: defaultRetryPolicy,
  retryIf: null,
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
  enabled: true,
  environments: [],
  schedule: null,
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
} as const satisfies Partial<DefinitionFields>
