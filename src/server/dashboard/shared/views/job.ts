export type State = 'ready' | 'scheduled' | 'blocked' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'skipped'
export type Counts = Readonly<Record<State, number>>

/** A text of a job, as far as the viewer may see it. */
export type ShownText =
  | { readonly kind: 'none' }
  | { readonly kind: 'hidden'; readonly bytes: number }
  | { readonly kind: 'encrypted'; readonly kid: string; readonly bytes: number }
  | { readonly kind: 'json' | 'raw'; readonly text: string; readonly bytes: number; readonly cut: boolean }

export interface JobRow {
  readonly id: string
  readonly job: string
  readonly name: string
  readonly queue: string
  readonly state: State
  readonly priority: number
  readonly attempts: number
  readonly maxRetries: number
  readonly group: string | null
  readonly tags: readonly string[]
  readonly schedule: string | null
  readonly root: string | null
  readonly reason: string | null
  readonly createdAt: number
  readonly runAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly owner: string | null
  readonly leaseExpiresAt: number | null
  readonly cancelRequested: boolean
  readonly lastError: string | null
  readonly progress: number | null
  readonly spoilt: boolean
}

export interface Searched {
  /** The number of jobs searched for this page. */
  readonly jobs: number
  /** When the last of them was created; null if none was searched. */
  readonly until: number | null
}

export interface JobPage {
  readonly jobs: readonly JobRow[]
  /** Where to continue; null at the end. */
  readonly next: string | null
  readonly searched: Searched
  /** The number of matches, if the maintained counters know it. */
  readonly total: number | null
}

export interface AttemptView {
  readonly attempt: number
  readonly at: number
  readonly message: string
  readonly code: string | null
  readonly stack: string | null
}

export interface LinkView {
  readonly kind: 'dependency' | 'child'
  /** Null if the viewer may not see it. */
  readonly id: string | null
  readonly job: string | null
  readonly key: string | null
  readonly state: State | 'missing'
  readonly waiting: boolean
}

/** A line that a job has logged. The fields are JSON text. */
export interface LogLineView {
  readonly line: number
  readonly attempt: number
  readonly at: number
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'stdout' | 'stderr'
  readonly message: string
  readonly fields: string | null
}

export interface LogView {
  /** The newest lines, oldest first. */
  readonly lines: readonly LogLineView[]
  /** The total number of lines. */
  readonly total: number
  /** Whether job logs are hidden from all viewers. */
  readonly isHidden: boolean
}

export interface JobView extends JobRow {
  readonly log: LogView
  readonly payload: ShownText
  readonly result: ShownText
  readonly progressText: ShownText
  readonly meta: ShownText
  readonly errors: readonly AttemptView[]
  readonly timeoutMs: number | null
  readonly repeat: string | null
  readonly rescues: number
  readonly uniqueKey: string | null
  readonly idempotencyKey: string | null
  readonly parent: string | null
  readonly number: number | null
  /** The job that it is a copy of. */
  readonly copyOf: string | null
  /** Why its payload cannot be edited here; null if it can. */
  readonly editRefusal: string | null
  readonly faults: readonly string[]
  readonly why: readonly { readonly rule: string; readonly message: string }[]
  readonly links: readonly LinkView[]
  /** Jobs of its workflow that wait for it. */
  readonly waiters: readonly LinkView[]
}
