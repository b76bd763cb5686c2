export interface WorkerRow {
  readonly owner: string
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly startedAt: number
  readonly seenAt: number
  readonly expiresAt: number
  readonly queues: readonly string[] | null
  readonly jobs: readonly string[]
  readonly concurrency: number
  readonly allowed: number
  readonly running: number
  readonly breaker: 'closed' | 'open' | 'half-open'
  readonly follows: boolean
  readonly lastTickAt: number | null
}

export interface WorkerView extends WorkerRow {
  readonly holds: readonly {
    readonly id: string
    readonly job: string
    readonly attempt: number
    readonly claimedAt: number
    readonly expiresAt: number
  }[]
}
