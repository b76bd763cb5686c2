import type { RunReport } from '../runs/report.ts'

// Messages between a worker process and its supervisor.

/** A message from a worker process to its supervisor. */
export type ChildMessage =
  /** The process now works and claims jobs under this name. */
  | { readonly kind: 'ready'; readonly owner: string }
  | ({ readonly kind: 'usage' } & Usage)
  /** A handler ignored its abort signal and was left behind. It may run forever. */
  | { readonly kind: 'abandoned' }
  /** The process could not start or gave up, in an orderly way. */
  | ({ readonly kind: 'failed' } & ChildFailure)
  | { readonly kind: 'report'; readonly report: RunReport }

/** A request from a supervisor to a worker process. */
export type ChildOrder = 'drain' | 'abort'

export interface Usage {
  /** Number of jobs that have ended since the process started. */
  readonly jobs: number
  /** Resident memory of the process. */
  readonly rssBytes: number
}

export interface ChildFailure {
  readonly code: string
  readonly message: string
}

/** How a process ended: with an exit code or by a signal. */
export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

/** Controls a worker process. */
export interface ChildHandle {
  readonly pid: number
  tell(order: ChildOrder): void
  /** Kills the process immediately, without a chance to clean up. */
  kill(): void
}

/** Callbacks for a process that a supervisor started. */
export interface ChildListener {
  onMessage(message: ChildMessage): void
  /** Called once, after all messages. */
  onExit(exit: Exit): void
}

/** Starts a worker process for a supervisor. */
export type StartChild = (place: number, listener: ChildListener) => ChildHandle
