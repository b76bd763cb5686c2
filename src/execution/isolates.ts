import type { JobContext } from '../definition/context.ts'
import type { Isolation } from '../definition/isolation.ts'

/** Where handlers run that can be killed. */
export interface Isolates {
  /** Calls the handler that is known there by the key of the job. */
  run(isolation: Isolation, context: JobContext): IsolatedRun
  /** Ends them all, whatever they are doing. */
  close(): Promise<void>
}

export interface IsolatedRun {
  /** Settles as the handler does; rejects when its isolate has ended, and nothing of it is left. */
  readonly result: Promise<unknown>
  kill(): void
}
