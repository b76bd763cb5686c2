import type { Duration } from '../core/duration.ts'
import type { Instant } from '../core/instant.ts'
import type { Json } from '../core/json.ts'

/** One dispatched job. */
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
  result(options?: { readonly timeout?: Duration; readonly signal?: AbortSignal }): Promise<Result>
  /** Ends a waiting job; asks a running one to stop through its signal. False when it had ended already. */
  cancel(): Promise<boolean>
  /** Moves a job that no worker has claimed; throws `RUN_ENDED` when it is too late. */
  reschedule(at: Instant): Promise<void>
}
