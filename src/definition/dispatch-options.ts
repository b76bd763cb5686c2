import type { Duration } from '../core/duration.ts'
import type { Instant } from '../core/instant.ts'
import type { Json } from '../core/json.ts'
import type { Priority } from './priority.ts'
import type { Run } from './run.ts'
import type { SqlTransaction } from './sql-transaction.ts'
import type { CallerTransaction } from './transactions/caller-transaction.ts'
import type { UniqueDispatchOptions } from './uniqueness.ts'

/** What may differ from one dispatch to the next. Nothing here changes the definition. */
export interface DispatchOptions extends UniqueDispatchOptions {
  readonly delay?: Duration
  readonly at?: Instant
  readonly queue?: string
  readonly priority?: Priority
  readonly maxRetries?: number
  readonly timeout?: Duration | null
  /** Whose job it is, in place of what the definition says; null is nobody's. */
  readonly group?: string | null
  /** Once a job with this key has succeeded, another one is skipped instead of run. */
  readonly idempotencyKey?: string
  readonly meta?: Readonly<Record<string, Json>>
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

export type Dependencies = DependedOn | readonly DependedOn[]

export type DependencyFailure = 'fail' | 'skip' | 'ignore' | 'continue'

export const dependencyFailures: readonly DependencyFailure[] = ['fail', 'skip', 'ignore', 'continue']

export const dispatchOptionNames = [
  'delay',
  'at',
  'queue',
  'priority',
  'maxRetries',
  'timeout',
  'group',
  'unique',
  'debounce',
  'throttle',
  'idempotencyKey',
  'meta',
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
