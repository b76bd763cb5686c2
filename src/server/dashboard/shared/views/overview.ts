import type { ErrorGroup } from './dead.ts'
import type { Counts, JobRow } from './job.ts'
import type { Percentiles, SeriesView } from './series.ts'

export interface VerdictLine {
  readonly level: 'problem' | 'warning'
  readonly text: string
  /** Relative to the mount path. */
  readonly href: string
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
