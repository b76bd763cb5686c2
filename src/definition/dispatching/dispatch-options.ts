import type { Json } from '../../core/text/json.ts'
import type { Duration } from '../../core/time/duration.ts'
import type { Instant } from '../../core/time/instant.ts'
import type { Priority } from '../policies/priority.ts'
import type { UniqueDispatchOptions } from '../policies/uniqueness.ts'
import type { Tags } from '../tags.ts'
import type { CallerTransaction } from '../transactions/caller-transaction.ts'
import type { SqlTransaction } from '../transactions/sql-transaction.ts'
import type { Run } from './run.ts'

/** What may differ from one dispatch to the next. Nothing here changes the definition. */
export interface DispatchOptions extends UniqueDispatchOptions {
  readonly delay?: Duration
  /** Null is at once. */
  readonly at?: Instant | null
  /** Null is as the definition says. */
  readonly queue?: string | null
  /** The name of the backend that this job is kept in, in place of what the definition says. */
  readonly backend?: string
  readonly priority?: Priority
  /** So many more attempts after the first one failed; null is as the definition says. */
  readonly retries?: number | null
  /** Another word for `retries`. */
  readonly maxRetries?: number | null
  readonly timeout?: Duration | null
  /** Whose job it is, in place of what the definition says; null is nobody's. */
  readonly group?: string | null
  /** Once a job with this key has succeeded, another one is skipped instead of run. */
  readonly idempotencyKey?: string
  readonly meta?: Readonly<Record<string, Json>>
  /** Words that people find it by, beside those of the definition. */
  readonly tags?: Tags
  /** Stores the payload encrypted, or does not, in place of what the definition and the instance say. */
  readonly encrypt?: boolean
  /** Does not run before these jobs have ended, by their handles or ids. */
  readonly dependsOn?: Dependencies
  /** What becomes of it when one of them fails: it is dead too (the default), skipped, waits for the rest, or runs at once. */
  readonly onDependencyFailure?: DependencyFailure
  /** It does not wait for others for longer than this; 7 days by default. */
  readonly waitAtMost?: Duration
  /** A transaction on the queue's database, which the caller ends: the job is there when it is committed. */
  readonly in?: CallerTransaction | SqlTransaction
}

type DependedOn = string | Pick<Run, 'id'>

/** The jobs that a dispatched job waits for: runs or ids. */
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

/** A duration in place of the options is the delay. */
export function dispatchOptions(given: unknown): DispatchOptions {
  if (given === undefined || given === null) return {}
  return typeof given === 'object' ? (given as DispatchOptions) : { delay: given as Duration }
}

/** A payload may be left out where the handler takes none. */
export type DispatchArguments<Input> = undefined extends Input
  ? [payload?: Input, options?: DispatchOptions]
  : [payload: Input, options?: DispatchOptions]
