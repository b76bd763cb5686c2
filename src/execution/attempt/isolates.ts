import type { JobContext } from '../../definition/context.ts'
import type { Isolation } from '../../definition/policies/isolation.ts'

/** Where handlers run that can be killed. */
export interface Isolates {
  /**
   * Calls the handler registered there under the job's key. `begin` is called when everything else is ready, and returns for how
   * many milliseconds the handler may still be called; if it rejects, the handler is not called.
   */
  run(isolation: Isolation, context: JobContext, begin: () => Promise<number>): IsolatedRun
  /** Ends all of them, whatever they are doing. */
  close(): Promise<void>
}

export interface IsolatedRun {
  /** Settles as the handler does; rejects if its isolate has ended and nothing of it is left. */
  readonly result: Promise<unknown>
  kill(): void
}
