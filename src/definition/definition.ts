import type { Schedule } from '../scheduling/schedule.ts'
import type { JobContext } from './context.ts'
import type { HandlerFunction } from './handler.ts'
import { type Meta, metaProblem, travellingMeta } from './meta.ts'
import { jobNameProblem, keyProblem, queueProblem, refuse } from './names.ts'
import { defaultPriority, priorityProblem } from './priority.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts'
import type { Schema } from './schema.ts'

export type Filter = (payload: never, context: FilterContext) => boolean | Promise<boolean>
export type FilterContext = Pick<JobContext, 'id' | 'job' | 'name' | 'queue' | 'attempt' | 'meta'>
export type Hook = (payload: never, context: JobContext<never>) => unknown
export type SuccessHook = (result: never, payload: never, context: JobContext<never>) => unknown
export type ErrorHook = (error: unknown, payload: never, context: JobContext<never>) => unknown

/** A key for this payload, or null for none. */
export type KeyOf = (payload: never) => string | null

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
  /** Jobs of this definition that may run at once over all workers; null is unlimited. */
  readonly concurrency: number | null
  readonly unique: KeyOf | null
  readonly idempotencyKey: KeyOf | null
  readonly idempotencyTtlMs: number
  readonly keep: Partial<Keep>
  readonly meta: Meta
  readonly enabled: boolean
  /** The schedule is followed only in these environments; an empty list is all of them. */
  readonly environments: readonly string[]
  readonly schedule: Schedule | null
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
  concurrency: null,
  unique: null,
  idempotencyKey: null,
  idempotencyTtlMs: 86_400_000,
  keep: {},
  meta: {},
  enabled: true,
  environments: [],
  schedule: null,
  args: null,
  when: [],
  skip: [],
  before: [],
  onSuccess: [],
  onError: [],
  finally: [],
} as const satisfies Partial<DefinitionFields>

/** What a job is: complete, checked and frozen. Each `withX` gives a changed copy and leaves this one as it is. */
export class JobDefinition {
  readonly fields: DefinitionFields

  constructor(fields: DefinitionFields) {
    refuse(`Job ${JSON.stringify(fields.job)}`, problemsOf(fields))
    this.fields = frozen(fields)
    Object.freeze(this)
  }

  get job(): string {
    return this.fields.job
  }

  get maxRetries(): number {
    return this.fields.maxAttempts - 1
  }

  get singleInstance(): boolean {
    return this.fields.concurrency === 1
  }

  with(changes: Partial<DefinitionFields>): JobDefinition {
    return new JobDefinition({ ...this.fields, ...changes })
  }

  withName(name: string): JobDefinition {
    return this.with({ name })
  }

  withQueue(queue: string): JobDefinition {
    return this.with({ queue })
  }

  withPriority(priority: number): JobDefinition {
    return this.with({ priority })
  }

  withMaxRetries(maxRetries: number): JobDefinition {
    return this.with({ maxAttempts: maxRetries + 1 })
  }

  withMaxAttempts(maxAttempts: number): JobDefinition {
    return this.with({ maxAttempts })
  }

  withRetry(retry: RetryPolicy): JobDefinition {
    return this.with({ retry })
  }

  withTimeout(timeoutMs: number | null): JobDefinition {
    return this.with({ timeoutMs })
  }

  withConcurrency(concurrency: number | null): JobDefinition {
    return this.with({ concurrency })
  }

  withSingleInstance(singleInstance = true): JobDefinition {
    return this.with({ concurrency: singleInstance ? 1 : null })
  }

  withUnique(unique: KeyOf | null): JobDefinition {
    return this.with({ unique })
  }

  withIdempotencyKey(key: string | KeyOf | null): JobDefinition {
    return this.with({ idempotencyKey: typeof key === 'string' ? () => key : key })
  }

  withSchedule(schedule: Schedule | null): JobDefinition {
    return this.with({ schedule })
  }

  withEnvironments(...environments: readonly string[]): JobDefinition {
    return this.with({ environments })
  }

  withEnabled(enabled: boolean): JobDefinition {
    return this.with({ enabled })
  }

  withMeta(meta: Meta): JobDefinition {
    return this.with({ meta })
  }

  withArgs(args: unknown): JobDefinition {
    return this.with({ args })
  }

  withKeep(keep: Partial<Keep>): JobDefinition {
    return this.with({ keep })
  }
}

function problemsOf(fields: DefinitionFields): readonly (string | undefined)[] {
  const { maxAttempts, concurrency, timeoutMs } = fields
  return [
    jobNameProblem(fields.job),
    jobNameProblem(fields.name, 'name'),
    queueProblem(fields.queue),
    priorityProblem(fields.priority),
    isPositive(maxAttempts) ? undefined : `maxAttempts must be a whole number of at least 1, got ${maxAttempts}`,
    concurrency === null || isPositive(concurrency)
      ? undefined
      : `concurrency must be a whole number of at least 1, got ${concurrency}`,
    timeoutMs === null || timeoutMs > 0 ? undefined : `timeout must be more than 0 ms, got ${timeoutMs}`,
    metaProblem(fields.meta),
    ...Object.entries(fields.keep).map(([outcome, keptMs]) => keepProblem(outcome, keptMs)),
    ...fields.environments.map((environment) => keyProblem(environment, 'an environment')),
  ]
}

const outcomes: Readonly<Record<keyof Keep, true>> = { succeeded: true, dead: true, cancelled: true, skipped: true }

function keepProblem(outcome: string, keptMs: number): string | undefined {
  const known = Object.keys(outcomes)
  if (!known.includes(outcome)) return `keep knows ${known.join(', ')}, got ${JSON.stringify(outcome)}`
  return keptMs >= 0 ? undefined : `keep.${outcome} must be a number of milliseconds, got ${keptMs}`
}

/** With copies of what the caller could still change. */
function frozen(fields: DefinitionFields): DefinitionFields {
  const entries = Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? Object.freeze([...value]) : value])
  const copied = Object.fromEntries(entries) as DefinitionFields
  return Object.freeze({ ...copied, keep: Object.freeze({ ...fields.keep }), meta: travellingMeta(fields.meta) })
}

function isPositive(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1
}
