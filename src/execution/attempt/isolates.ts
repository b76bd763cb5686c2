import type { JobContext } from '../../definition/context.ts'
import type { Isolation } from '../../definition/policies/isolation.ts'

/** Where handlers run that can be killed. */
export interface Isolates {
  /**
   * Calls the handler that is known there by the key of the job. `begin` is asked when everything else is ready, and gives for how
   * many milliseconds the handler may be called after that; where it rejects, the handler is not called.
   */
  run(isolation: Isolation, context: JobContext, begin: () => Promise<number>): IsolatedRun
  /** Ends them all, whatever they are doing. */
  close(): Promise<void>
}

export interface IsolatedRun {
  /** Settles as the handler does; rejects when its isolate has ended, and nothing of it is left. */
  readonly result: Promise<unknown>
  kill(): void
}
