import type { RunReport } from '../runs/report.ts'

// What a worker process and the one that watches over it say to each other.

/** What a worker process reports to its supervisor. */
export type ChildMessage =
  /** It works from here on, and claims jobs under this name. */
  | { readonly kind: 'ready'; readonly owner: string }
  | ({ readonly kind: 'usage' } & Usage)
  /** A handler ignored its signal and was left behind; it may go on forever. */
  | { readonly kind: 'abandoned' }
  /** It could not start, or gave up, in an orderly way. */
  | ({ readonly kind: 'failed' } & ChildFailure)
  | { readonly kind: 'report'; readonly report: RunReport }

/** What a supervisor asks a worker process to do. */
export type ChildOrder = 'drain' | 'abort'

export interface Usage {
  /** That have ended since it started. */
  readonly jobs: number
  /** The memory that the system has given it. */
  readonly rssBytes: number
}

export interface ChildFailure {
  readonly code: string
  readonly message: string
}

/** How a process ended: by itself, or by a signal. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** A process, as far as it must be led. */
export interface ChildHandle {
  readonly pid: number
  tell(order: ChildOrder): void
  /** At once, without a chance to tidy up. */
  kill(): void
}

/** What a supervisor wants to know of a process that it started. */
export interface ChildListener {
  onMessage(message: ChildMessage): void
  /** Last, and once. */
  onExit(exit: Exit): void
}

/** Starts a worker process for a supervisor. */
export type StartChild = (place: number, listener: ChildListener) => ChildHandle
