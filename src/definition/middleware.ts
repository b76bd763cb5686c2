import type { JobContext } from './context.ts'
import type { DispatchOptions } from './dispatching/dispatch-options.ts'
import type { Run } from './dispatching/run.ts'

/** Calls the next middleware, or the handler, and returns its result. Everything inside it sees `added` in its context. */
export type Next<Added extends object> = object extends Added
  ? (added?: Added) => Promise<unknown>
  : (added: Added) => Promise<unknown>

/**
 * Wraps job handlers. Its return value becomes the result of the job; if it returns undefined, the result of `next` is used.
 * Middleware that does not call `next` replaces the handler.
 */
export type RunMiddleware<Added extends object = object> = (context: JobContext, next: Next<Added>) => unknown

/** A job that is about to be dispatched. */
export interface DispatchRequest {
  readonly job: string
  /** Undefined if none was given; the `args` of the definition are then used. */
  readonly payload: unknown
  readonly options: DispatchOptions
}

/** What a middleware replaces of a dispatch. */
export type DispatchChanges = Partial<Pick<DispatchRequest, 'payload' | 'options'>>

/** Wraps dispatches. `next` accepts a replacement payload or options, and must be called for each job. */
export type DispatchMiddleware = (request: DispatchRequest, next: (changes?: DispatchChanges) => Promise<Run>) => Promise<Run>

/** Middleware around the runs or the dispatches of jobs; see `jobs.use`. */
export interface Middleware<Added extends object = object> {
  /** Wraps handlers. */
  readonly run?: RunMiddleware<Added>
  /** Wraps dispatches made by this program. */
  readonly dispatch?: DispatchMiddleware
}
