import type { Duration } from '../../core/time/duration.ts'

/** How far a workflow is. */
export interface TreeProgress {
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
  /** The share of its jobs that have ended, from 0 to 1. */
  readonly done: number
}

/** Options for waiting for a result. */
export interface WaitOptions {
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}
