import { TreadleError } from '../../core/errors.ts'
import type { DispatchOptions } from './dispatch-options.ts'

/** One job of a workflow, before it is dispatched: made by `job.step(payload, options)`. */
export interface Step<Result = unknown> {
  readonly job: string
  readonly payload: unknown
  readonly options: DispatchOptions
  /** Only for the types: what the job will give. */
  readonly resultType?: Result
}

export function checkedStep(step: unknown): Step {
  if (typeof step === 'object' && step !== null && 'job' in step && 'options' in step) return soundStep(step as Step)
  const got = typeof step === 'object' && step !== null && 'job' in step ? `the job "${step.job}" itself` : String(step)
  throw new TreadleError('CONFIG_INVALID', `A workflow is made of steps, such as job.step(payload), got ${got}`)
}

/** All steps of a workflow are stored together, and so is said where: a step of its own would be there without the others. */
function soundStep(step: Step): Step {
  const { job, options } = step
  if (typeof options !== 'object' || options === null) {
    const message = `Step "${job}" of a workflow: its options must be an object such as { delay: '5s' }, got ${String(options)}`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  if (!('in' in options)) return step
  const message = `Step "${job}" of a workflow: the transaction is said of the whole workflow, such as jobs.chain(steps, { in: tx })`
  throw new TreadleError('CONFIG_INVALID', message)
}

/** What `dispatchChild` was given in place of a job may be anything. */
export function childJobName(job: unknown): string {
  const name = typeof job === 'object' && job !== null && 'job' in job ? job.job : job
  if (typeof name === 'string') return name
  throw new TreadleError('JOB_UNKNOWN', `dispatchChild takes a job or its name, and then the payload, got ${String(job)}`)
}

/** The results of these steps, in their order. */
export type ResultsOf<Steps extends readonly Step[]> = {
  readonly [Place in keyof Steps]: Steps[Place] extends Step<infer Result> ? Result : never
}

/** What a parent does when one of its children fails: it fails too, counts it as ended, or does not wait for the rest. */
export type ChildFailure = 'fail' | 'ignore' | 'continue'

export const childFailures: readonly ChildFailure[] = ['fail', 'ignore', 'continue']

export function childFailureProblem(policy: unknown, what: string): string | undefined {
  if (childFailures.includes(policy as ChildFailure)) return undefined
  return `${what} must be one of ${childFailures.join(', ')}, got ${JSON.stringify(policy)}`
}

/** Options of `ctx.dispatchChild`. */
export interface ChildOptions extends Omit<DispatchOptions, 'dependsOn' | 'onDependencyFailure' | 'in'> {
  /** What the parent calls this child: a parent that runs again finds the child that it has. */
  readonly key?: string
  readonly onFailure?: ChildFailure
}

export type ChildArguments<Input> = undefined extends Input
  ? [payload?: Input, options?: ChildOptions]
  : [payload: Input, options?: ChildOptions]

/** A job that can be part of a workflow, as far as its types go: a builder. */
export interface Steppable<Input, Result> {
  readonly job: string
  args(payload: Input): unknown
  step(...args: never): Step<Result>
}

/** How a job ended that another one waited for. */
export interface LinkOutcome {
  readonly id: string
  /** Null where no such job ever existed. */
  readonly job: string | null
  /** `succeeded`, `dead`, `cancelled` or `skipped`; `missing` where it is nowhere; else it has not ended. */
  readonly state: string
  /** What its handler returned; undefined where it returned nothing or did not succeed. */
  readonly result: unknown
  /** Why it did not succeed. */
  readonly error: string | null
}

/** How a child of a job ended. */
export interface ChildOutcome extends LinkOutcome {
  readonly key: string
}

/** How long a job waits for others unless it is said. */
export const defaultLongestWaitMs = 7 * 86_400_000

export function waitProblem(longestWaitMs: number): string | undefined {
  return longestWaitMs > 0 ? undefined : 'waitAtMost must be more than 0 ms'
}
