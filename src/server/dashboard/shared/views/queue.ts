import type { ActivityEntry } from './bulk.ts'
import type { Counts } from './job.ts'
import type { SeriesView } from './series.ts'
import type { WorkerRow } from './worker.ts'

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
  /** Who paused it from this dashboard and when; null if it is not paused, or was paused elsewhere. */
  readonly pausedHere: Pick<ActivityEntry, 'at' | 'user'> | null
  readonly jobs: readonly QueuedJobRow[]
  /** The number of jobs that are not listed. */
  readonly more: number
  readonly workers: readonly WorkerRow[]
  readonly series: SeriesView
}
