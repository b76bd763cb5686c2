import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { DispatchArguments, DispatchOptions } from './dispatch-options.ts'

/** One job of a workflow before it is dispatched, created by `job.step(payload, options)`. */
export interface Step<Result = unknown> {
  readonly job: string
  readonly payload: unknown
  readonly options: DispatchOptions
  /** Only for type inference: the result of the job. */
  readonly resultType?: Result
}

export function checkedStep(step: unknown): Step {
  if (typeof step === 'object' && step !== null && 'job' in step && 'options' in step) return soundStep(step as Step)
  const got = typeof step === 'object' && step !== null && 'job' in step ? `the job "${step.job}" itself` : shown(step)
  throw new TreadleError('CONFIG_INVALID', `A workflow is made of steps, such as job.step(payload), got ${got}`)
}

/**
 * All steps of a workflow are stored together, so the transaction belongs to the workflow: a step in a transaction of its own
 * could exist without the others.
 */
function soundStep(step: Step): Step {
  const { job, options } = step
  if (typeof options !== 'object' || options === null) {
    const message = `Step "${job}" of a workflow: its options must be an object such as { delay: '5s' }, got ${shown(options)}`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  if (!('in' in options)) return step
  const message = `Step "${job}" of a workflow: the transaction is an option of the whole workflow, such as jobs.chain(steps, { in: tx })`
  throw new TreadleError('CONFIG_INVALID', message)
}

/** The results of these steps, in order. */
export type ResultsOf<Steps extends readonly Step[]> = {
  readonly [Place in keyof Steps]: Steps[Place] extends Step<infer Result> ? Result : never
}

/** What a parent does when a child fails: fail too, treat the child as finished, or stop waiting for the others. */
export type ChildFailure = 'fail' | 'ignore' | 'continue'

const childFailures: readonly ChildFailure[] = ['fail', 'ignore', 'continue']

export function childFailureProblem(policy: unknown, what: string): string | undefined {
  if (childFailures.includes(policy as ChildFailure)) return undefined
  return `${what} must be one of ${childFailures.join(', ')}, got ${shown(policy)}`
}

/** Options of `ctx.dispatchChild`. */
export interface ChildOptions extends Omit<DispatchOptions, 'dependsOn' | 'onDependencyFailure' | 'in'> {
  /** Identifies this child within its parent, so that a parent that runs again gets the existing child. */
  readonly key?: string
  readonly onFailure?: ChildFailure
}

export type ChildArguments<Input> = DispatchArguments<Input, ChildOptions>

/** A builder or a `JobDefinition`, as far as the types of a dispatch are concerned. */
export interface DefinedJob<Input, Result> {
  readonly job: string
  toDefinition(): { readonly inputType?: { of(input: Input): void }['of']; readonly resultType?: Result }
}

/** A class with `handle`, as far as the types of a dispatch are concerned. */
export type ChildClass<Payload, Result> =
  | { readonly name: string; handle(payload: Payload, context: never): Result | Promise<Result> }
  | (new () => { handle(payload: Payload, context: never): Result | Promise<Result> })

/** The outcome of a job that another one waited for. */
export interface LinkOutcome {
  readonly id: string
  /** Null if no such job ever existed. */
  readonly job: string | null
  /**
   * `succeeded`, `dead`, `cancelled` or `skipped`; `missing` if the job cannot be found; any other state means it has not
   * finished.
   */
  readonly state: string
  /** The return value of its handler; undefined if it returned nothing or did not succeed. */
  readonly result: unknown
  /** Why it did not succeed. */
  readonly error: string | null
}

/** The outcome of a child job. */
export interface ChildOutcome extends LinkOutcome {
  readonly key: string
}

/** How long a job waits for others by default. */
export const defaultLongestWaitMs = 7 * 86_400_000

export function waitProblem(longestWaitMs: number): string | undefined {
  return longestWaitMs > 0 ? undefined : 'waitAtMost must be more than 0 ms'
}
