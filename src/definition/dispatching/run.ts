import type { Json } from '../../core/text/json.ts'
import type { Duration } from '../../core/time/duration.ts'
import type { Instant } from '../../core/time/instant.ts'
import type { TreeProgress, WaitOptions } from './progress.ts'

/**
 * A handle to one dispatched job. A handle made from the id of a workflow stands for the whole workflow; its result is the list
 * of the results of its jobs.
 */
export interface Run<Result = unknown> {
  readonly id: string
  readonly job: string
  /** False if another job already holds the unique key; `id` is then that job's, whether or not this dispatch changed it. */
  readonly created: boolean
  /** `ready`, `scheduled`, `blocked`, `running`, `succeeded`, `dead`, `cancelled` or `skipped`. */
  state(): Promise<string>
  /** The progress last reported by the handler, or null. */
  progress(): Promise<Json>
  /** Waits for the job to finish and returns the handler's result. Throws if the job did not succeed or `timeout` has passed. */
  result(options?: WaitOptions): Promise<Result>
  /**
   * Cancels a waiting job, or asks a running one to stop through its signal. Returns false if it had already finished. With
   * `tree`, also cancels every job that it created and every job that waits for it.
   */
  cancel(options?: { readonly tree?: boolean }): Promise<boolean>
  /**
   * Puts a finished job back into the queue with all its attempts; of a workflow, all jobs that did not succeed. Returns false if
   * there was nothing to put back: it has not finished, or another job holds its unique key.
   */
  retry(): Promise<boolean>
  /** The progress of the workflow that this job belongs to. */
  tree(): Promise<TreeProgress>
  /** Moves a job that no worker has claimed to an instant or by a duration from now. Throws `RUN_ENDED` if it is too late. */
  reschedule(when: Instant | Duration): Promise<void>
}
