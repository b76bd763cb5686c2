import type { JobContext } from './context.ts'
import type { DispatchOptions } from './dispatching/dispatch-options.ts'
import type { Run } from './dispatching/run.ts'

/** Goes on to the next middleware, or to the handler, and gives the result. What is added is there in the context from here on. */
export type Next<Added extends object> = object extends Added
  ? (added?: Added) => Promise<unknown>
  : (added: Added) => Promise<unknown>

/**
 * Wraps the handlers of jobs. The result of the job is what it returns; where it returns undefined, what `next` gave. One that does
 * not call `next` takes the place of the handler.
 */
export type RunMiddleware<Added extends object = object> = (context: JobContext, next: Next<Added>) => unknown

/** A job that is about to be dispatched. */
export interface DispatchRequest {
  readonly job: string
  /** Undefined where none was given: then the `args` of its definition count. */
  readonly payload: unknown
  readonly options: DispatchOptions
}

/** Wraps dispatches. `next` takes what is to be dispatched in place of it; it must be called for each job. */
export type DispatchMiddleware = (
  request: DispatchRequest,
  next: (changes?: Partial<Pick<DispatchRequest, 'payload' | 'options'>>) => Promise<Run>,
) => Promise<Run>

/** What wraps the runs or the dispatches of jobs; see `jobs.use`. */
export interface Middleware<Added extends object = object> {
  /** Around handlers. */
  readonly run?: RunMiddleware<Added>
  /** Around dispatches of this program. */
  readonly dispatch?: DispatchMiddleware
}
