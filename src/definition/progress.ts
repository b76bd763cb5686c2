import type { Duration } from '../core/duration.ts'

/** How far a workflow is. */
export interface TreeProgress {
  readonly total: number
  readonly counts: Readonly<Record<string, number>>
  /** The share of its jobs that have ended, from 0 to 1. */
  readonly done: number
}

export interface WaitOptions {
  readonly timeout?: Duration
  readonly signal?: AbortSignal
}
