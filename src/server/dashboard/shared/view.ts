import type { Role } from '../../../client/api/roles.ts'

/** The data of the pages. Instants are UTC milliseconds of the server's clock. */

export type State = 'ready' | 'scheduled' | 'blocked' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'skipped'
export type Counts = Readonly<Record<State, number>>

/** The viewer, and what is available to them. */
export interface Me {
  readonly user: string | null
  readonly role: Role
  readonly queues: readonly string[] | null
  readonly isLimited: boolean
  readonly canLogOut: boolean
  readonly version: string
  readonly backend: string
  /** The name of this installation, and the colour of its bar. */
  readonly environment: string | null
  readonly colour: Colour | null
  readonly now: number
}

/** The colour of the bar that marks an environment. */
export type Colour = 'blue' | 'green' | 'amber' | 'red' | 'violet' | 'grey'

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
  readonly why: readonly { readonly rule: string; readonly message: string; readonly until: number | null }[]
  readonly links: readonly LinkView[]
  /** Jobs of its workflow that wait for it. */
  readonly waiters: readonly LinkView[]
}

export interface QueueRow {
  readonly queue: string
  readonly paused: boolean
  readonly counts: Counts
  readonly oldestReadyAt: number | null
  /** Per minute, over the last five minutes; null if not known yet. */
  readonly inRate: number | null
  readonly outRate: number | null
  readonly emptyInMs: number | null
  readonly growingBy: number | null
  readonly concurrency: number | null
  readonly rate: string | null
}

/** The jobs with one key in a queue. */
export interface QueuedJobRow {
  readonly job: string
  /** Whether no job with this key is claimed from any queue. */
  readonly paused: boolean
  readonly counts: Counts
  readonly oldestReadyAt: number | null
}

export interface QueueView extends QueueRow {
  readonly jobs: readonly QueuedJobRow[]
  /** The number of jobs that are not listed. */
  readonly more: number
  readonly workers: readonly WorkerRow[]
  readonly series: SeriesView
}

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

export type Range = '1h' | '1d' | '7d'

export interface SeriesPoint {
  readonly at: number
  readonly done: number
  readonly retried: number
  readonly dead: number
  readonly other: number
  readonly wait: Percentiles | null
  readonly run: Percentiles | null
}

export type Percentiles = readonly [p50: number, p95: number, p99: number]

/** Each point covers the `stepMs` that start at its instant. */
export interface SeriesView {
  readonly stepMs: number
  /** False if the engine keeps no statistics; all points are empty then. */
  readonly isKept: boolean
  readonly points: readonly SeriesPoint[]
}

export interface VerdictLine {
  readonly level: 'problem' | 'warning'
  readonly text: string
  /** Relative to the mount path. */
  readonly href: string
}

export interface ErrorGroup {
  readonly key: string
  readonly job: string
  readonly queues: readonly string[]
  readonly reasons: readonly string[]
  readonly code: string | null
  /** Of the newest job of the group. */
  readonly message: string
  readonly normal: string
  readonly sampleId: string
  readonly sampleStack: string | null
  readonly jobs: number
  readonly firstAt: number
  readonly lastAt: number
  /** For each of the last seven days, oldest first. */
  readonly days: readonly number[]
}

export interface DeadPage {
  readonly groups: readonly ErrorGroup[]
  readonly total: number
  readonly next: string | null
  readonly searched: Searched
}

export interface OverviewView {
  readonly counts: Counts
  readonly workers: number
  readonly oldestReadyAt: number | null
  readonly verdict: readonly VerdictLine[]
  /** Since when all has been well, as far as this process has seen. */
  readonly wellSince: number | null
  readonly series: SeriesView
  readonly rates: {
    readonly donePerMinute: number | null
    readonly failedShare: number | null
    readonly wait: Percentiles | null
    readonly run: Percentiles | null
    readonly deadInHour: number
  }
  readonly busiest: readonly {
    readonly job: string
    readonly queue: string
    readonly perMinute: number
    readonly runP95: number | null
    readonly failedShare: number
  }[]
  readonly failing: readonly ErrorGroup[]
  readonly running: readonly JobRow[]
  readonly next: readonly { readonly name: string; readonly at: number }[]
}

export interface ScheduleRow {
  readonly name: string
  /** The key of a stored schedule; null if the schedule is in the code. */
  readonly key: string | null
  readonly job: string
  readonly expression: string
  readonly timezone: string
  /** Null if this program does not have the schedule in its code. */
  readonly words: string | null
  readonly state: 'active' | 'paused' | 'new' | 'disabled' | 'not in code' | 'ended' | 'unknown job' | 'rejected'
  readonly isRepeat: boolean
  readonly nextAt: number | null
  readonly last: RunView | null
}

export interface RunView {
  readonly at: number
  readonly jobId: string
  readonly outcome: State | null
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export interface ScheduleView extends ScheduleRow {
  /** For a stored schedule, the payload of each run as JSON; null if the schedule is in the code. */
  readonly payload: string | null
  /** The initial values of the form that edits it; null if the schedule is in the code. */
  readonly draft: ScheduleDraft | null
  readonly editRefusal: string | null
  readonly warnings: readonly string[]
  readonly next: readonly { readonly at: number; readonly local: string; readonly note: string | null }[]
  /** Latest first. */
  readonly recent: readonly RunView[]
}

/** A stored schedule as form values. An unset value is an empty string. */
export interface ScheduleDraft {
  readonly key: string
  readonly job: string
  readonly kind: 'cron' | 'every' | 'repeat'
  readonly said: string
  readonly timezone: string
  readonly until: string
  readonly misfire: '' | 'skip' | 'latest' | 'all'
  readonly overlap: '' | 'allow' | 'skip' | 'queue'
  /** JSON. */
  readonly payload: string
}

export type DraftField = keyof ScheduleDraft

/** What a draft would do. */
export interface DraftView {
  readonly words: string | null
  readonly next: readonly { readonly at: number; readonly local: string; readonly note: string | null }[]
  readonly warnings: readonly string[]
  readonly problems: readonly { readonly field: DraftField; readonly detail: string }[]
}

export interface CalendarView {
  readonly from: number
  readonly to: number
  readonly schedules: readonly CalendarRow[]
}

export interface CalendarRow {
  readonly name: string
  readonly state: ScheduleRow['state']
  readonly past: readonly RunView[]
  readonly future: readonly { readonly at: number; readonly note: string | null }[]
  /** Whether there are too many to list one by one. */
  readonly isDense: boolean
  /** Whether it is a repeat: its next runs depend on how long the previous ones take. */
  readonly isEstimate: boolean
}

export interface WorkflowRow {
  readonly root: string
  readonly name: string
  readonly total: number
  readonly counts: Counts
  readonly startedAt: number
  readonly newestJobAt: number
}

export interface WorkflowPage {
  readonly workflows: readonly WorkflowRow[]
  readonly next: string | null
  readonly searched: Searched
}

export interface WorkflowView {
  readonly root: string
  readonly name: string
  readonly total: number
  readonly counts: Counts
  readonly startedAt: number
  readonly endedAt: number | null
  readonly nodes: readonly GraphNode[]
  /** From a dependency to the node that waits for it, as indices of nodes. */
  readonly edges: readonly (readonly [from: number, to: number])[]
  /** Whether some of its jobs are not shown. */
  readonly cut: boolean
}

/** One job, or several that differ only in their ids. */
export interface GraphNode {
  readonly job: string
  readonly state: State | 'missing'
  /** Null if it stands for several jobs. */
  readonly id: string | null
  readonly size: number
  readonly done: number
  readonly failed: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export interface EngineView {
  readonly backend: string
  readonly url: string
  readonly version: string
  readonly schema: { readonly version: number; readonly latest: number } | null
  readonly parts: readonly { readonly name: string; readonly has: boolean }[]
  readonly keep: readonly { readonly state: string; readonly keptMs: number | null }[]
  readonly findings: readonly Finding[] | null
  readonly lookedAt: number | null
}

export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'warning' | 'problem'
  readonly found: string
  readonly advice: string | null
}

export type BulkAction = 'retry' | 'cancel' | 'delete' | 'run-now' | 'reschedule'

export interface BulkPreview {
  readonly count: number
  /** False if the count is only a lower bound. */
  readonly exact: boolean
  readonly samples: readonly JobRow[]
  readonly searched: Searched
}

export interface BulkView {
  readonly id: string
  readonly action: BulkAction
  readonly filter: string | null
  readonly user: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  readonly expected: number
  readonly looked: number
  readonly done: number
  readonly refused: readonly { readonly why: string; readonly count: number; readonly sampleId: string }[]
  readonly isAborted: boolean
  readonly failure: string | null
}

/** One action taken in the dashboard. */
export interface ActivityEntry {
  readonly at: number
  readonly user: string | null
  readonly what: string
  readonly href: string | null
  readonly bulk: BulkView | null
}

export interface ProblemView {
  readonly status: number
  readonly title: string
  readonly detail: string
}
