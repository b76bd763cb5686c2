export interface ManagedJob {
  readonly jobID: number
  readonly job: string
}

/** The events that a manager emits. */
export type ManagerEvent =
  | { readonly event: 'manager:started'; readonly server: string; readonly name: string; readonly workers: string }
  | ({ readonly event: 'job:started' } & ManagedJob)
  | ({ readonly event: 'job:finished'; readonly durationMs: number } & ManagedJob)
  | ({ readonly event: 'job:retried'; readonly durationMs: number; readonly delaySeconds: number } & ManagedJob)
  | ({ readonly event: 'job:failed'; readonly durationMs: number; readonly error: string } & ManagedJob)
  | ({ readonly event: 'job:returned'; readonly durationMs: number } & ManagedJob)
  | { readonly event: 'manager:trouble'; readonly error: string }
  | { readonly event: 'manager:draining'; readonly why: string; readonly running: number }
  | ({ readonly event: 'manager:stopped' } & ManagerReport)

export interface ManagerReport {
  readonly finished: number
  readonly retried: number
  readonly failed: number
  readonly returned: number
}
