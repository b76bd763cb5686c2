import type { Json } from '../../core/text/json.ts'
import type { Duration } from '../../core/time/duration.ts'
import type { Instant } from '../../core/time/instant.ts'
import type { Priority } from '../policies/priority.ts'
import type { UniqueDispatchOptions } from '../policies/uniqueness.ts'
import type { Tags } from '../tags.ts'
import type { CallerTransaction } from '../transactions/caller-transaction.ts'
import type { SqlTransaction } from '../transactions/sql-transaction.ts'
import type { Run } from './run.ts'

/** Options of a single dispatch. They override the definition without changing it. */
export interface DispatchOptions extends UniqueDispatchOptions {
  readonly delay?: Duration
  /** When to run at the earliest; null means now. */
  readonly at?: Instant | null
  /** Null uses the queue of the definition. */
  readonly queue?: string | null
  /** The name of the backend that stores this job, instead of the definition's. */
  readonly backend?: string
  readonly priority?: Priority
  /** Maximum number of further attempts after the first one fails; null uses the definition. */
  readonly retries?: number | null
  /** Alias of `retries`. */
  readonly maxRetries?: number | null
  readonly timeout?: Duration | null
  /** The group of the job, instead of the definition's; null means none. */
  readonly group?: string | null
  /** Once a job with this key has succeeded, others are skipped instead of run; null means no key. */
  readonly idempotencyKey?: string | null
  readonly meta?: Readonly<Record<string, Json>>
  /** Labels to search jobs by, in addition to those of the definition. */
  readonly tags?: Tags
  /** Whether to store the payload encrypted, instead of the setting of the definition or the instance. */
  readonly encrypt?: boolean
  /** Jobs that must finish before this one runs, given by handle or id. */
  readonly dependsOn?: Dependencies
  /**
   * What happens when one of them does not succeed: the job is dead too (`fail`, the default), is skipped (`skip`), still waits
   * for the others (`ignore`), or runs at once (`continue`).
   */
  readonly onDependencyFailure?: DependencyFailure
  /** Maximum time to wait for other jobs; 7 days by default. */
  readonly waitAtMost?: Duration
  /** A transaction on the queue's database that the caller ends: the job exists once it commits. */
  readonly in?: CallerTransaction | SqlTransaction
}

type DependedOn = string | Pick<Run, 'id'>

/** The jobs that a dispatched job waits for: handles or ids. */
export type Dependencies = DependedOn | readonly DependedOn[]

/** What happens to a waiting job when a job that it depends on does not succeed. */
export type DependencyFailure = 'fail' | 'skip' | 'ignore' | 'continue'

export const dependencyFailures: readonly DependencyFailure[] = ['fail', 'skip', 'ignore', 'continue']

export const dispatchOptionNames = [
  'delay',
  'at',
  'queue',
  'backend',
  'priority',
  'retries',
  'maxRetries',
  'timeout',
  'group',
  'unique',
  'debounce',
  'throttle',
  'idempotencyKey',
  'meta',
  'tags',
  'encrypt',
  'dependsOn',
  'onDependencyFailure',
  'waitAtMost',
  'in',
] as const satisfies readonly (keyof DispatchOptions)[]

/** A duration instead of options is the delay. */
export function dispatchOptions(given: unknown): DispatchOptions {
  if (given === undefined || given === null) return {}
  return typeof given === 'object' ? (given as DispatchOptions) : { delay: given as Duration }
}

/** The payload may be omitted if the handler takes none. */
export type DispatchArguments<Input, Options = DispatchOptions> = undefined extends Input
  ? [payload?: Input, options?: Options]
  : [payload: Input, options?: Options]
