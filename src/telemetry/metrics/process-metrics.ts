import type { JobEvents } from '../../execution/job-events.ts'
import { Histogram } from './histogram.ts'

/** Bounds in seconds for event loop stalls. Stalls shorter than the worker's `stall` are not detected. */
const stallBounds = [1, 2, 5, 10, 30, 60, 300]

/** Counts the events of a worker and its scheduler. */
export class ProcessMetrics {
  readonly stallSeconds = new Histogram(stallBounds)
  readonly lagSeconds = new Histogram()
  stalls = 0
  lastLagSeconds = 0
  breakerOpened = 0
  errors = 0
  failedSchedules = 0
  missedRuns = 0
  readonly #stops: readonly (() => void)[]

  constructor(events: JobEvents) {
    this.#stops = [
      events.follow('worker:stalled', ({ stalledMs }) => {
        this.stalls++
        this.stallSeconds.add(stalledMs / 1_000)
      }),
      events.follow('worker:breaker', ({ state }) => {
        if (state === 'open') this.breakerOpened++
      }),
      events.follow('worker:error', () => {
        this.errors++
      }),
      events.follow('schedule:tick', ({ plannedAt, startedAt, failed }) => {
        this.lastLagSeconds = Math.max(0, startedAt - plannedAt) / 1_000
        this.lagSeconds.add(this.lastLagSeconds)
        this.failedSchedules += failed
      }),
      events.follow('schedule:missed', ({ madeUp, leftOut }) => {
        this.missedRuns += madeUp.length + leftOut
      }),
    ]
  }

  close(): void {
    for (const stop of this.#stops) stop()
  }
}
