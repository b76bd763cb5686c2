import type { Duration } from '../../core/time/duration.ts'

/** The progress of a workflow. */
export interface TreeProgress {
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
  /** The fraction of its jobs that have finished, from 0 to 1. */
  readonly done: number
}

/** Options for waiting for a result. */
export interface WaitOptions {
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}
