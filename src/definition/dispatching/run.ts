import type { Json } from '../../core/text/json.ts'
import type { Duration } from '../../core/time/duration.ts'
import type { Instant } from '../../core/time/instant.ts'
import type { TreeProgress, WaitOptions } from './progress.ts'

/** One dispatched job; or a workflow, where a handle was made of its id: its result is the list of those of its jobs. */
export interface Run<Result = unknown> {
  readonly id: string
  readonly job: string
  /** False when another job holds the unique key; `id` is that job's, whether it was left as it is or changed by this dispatch. */
  readonly created: boolean
  /** `ready`, `scheduled`, `blocked`, `running`, `succeeded`, `dead`, `cancelled` or `skipped`. */
  state(): Promise<string>
  /** What the handler last said of its progress, or null. */
  progress(): Promise<Json>
  /** Waits for the end and gives the handler's result; throws when the job ended otherwise or `timeout` is over. */
  result(options?: WaitOptions): Promise<Result>
  /**
   * Ends a waiting job; asks a running one to stop through its signal. False when it had ended already. With `tree`, the same for
   * everything that it made and everything that waits for it.
   */
  cancel(options?: { readonly tree?: boolean }): Promise<boolean>
  /** How far the workflow is that this job is part of. */
  tree(): Promise<TreeProgress>
  /** Moves a job that no worker has claimed, to an instant or to so long from now; throws `RUN_ENDED` when it is too late. */
  reschedule(when: Instant | Duration): Promise<void>
}
