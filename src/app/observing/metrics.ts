import type { Clock } from '../../core/time/clock.ts'
import type { JobEvents } from '../../execution/job-events.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import { exposition, type Family, type Labels } from '../../telemetry/metrics/exposition.ts'
import { familiesOf, type Sees } from '../../telemetry/metrics/families.ts'
import { JobMetrics } from '../../telemetry/metrics/job-metrics.ts'
import { ProcessMetrics } from '../../telemetry/metrics/process-metrics.ts'
import type { QueueGauges, WorkerGauges } from '../../telemetry/metrics/queue-families.ts'
import type { ObservedJob, Observers } from '../../telemetry/observer.ts'
import type { WorkerState } from '../../worker/health/worker-state.ts'

/** An open backend of the program. */
export interface MeasuredBackend {
  readonly name: string
  readonly backend: QueueBackend
  readonly clock: Clock
  readonly workerState: () => Promise<WorkerState | null>
}

export interface MetricsDeps {
  readonly observers: Observers
  readonly events: JobEvents
  readonly backends: () => readonly MeasuredBackend[]
}

/** Options for the metrics in Prometheus format. */
export interface MetricsOptions {
  /** Restricts the metrics to these jobs. Default: all jobs. */
  readonly sees?: (job: ObservedJob) => boolean
}

/** How long to reuse the gauges, so that several scrapers cause only one read of the queue. */
const freshMs = 1_000

interface Counting {
  readonly jobs: JobMetrics
  readonly process: ProcessMetrics
}

/** Metrics of a program's jobs in the Prometheus text format. */
export class Metrics {
  readonly #deps: MetricsDeps
  #counting: Counting | undefined
  #read: { readonly at: number; readonly gauges: Promise<readonly QueueGauges[]> } | undefined

  /** @internal */
  constructor(deps: MetricsDeps) {
    this.#deps = deps
  }

  /** Starts counting. Before this, nothing is counted and there is no overhead. */
  start(): void {
    this.#started()
  }

  /** All counts since the start, and the current state of the queues, in the Prometheus text format. */
  async text({ sees }: MetricsOptions = {}): Promise<string> {
    return exposition(await this.families(sees ?? null))
  }

  /** @internal */
  async families(sees: Sees = null): Promise<readonly Family[]> {
    const { jobs, process } = this.#started()
    const [queues, workers] = await Promise.all([this.#queues(), this.#workers()])
    return familiesOf({ jobs, process, queues, workers }, sees)
  }

  /** @internal */
  labelsOf({ queue, job }: ObservedJob): Labels {
    return this.#started().jobs.jobs.of(queue, job).labels
  }

  #started(): Counting {
    if (this.#counting === undefined) {
      const { observers, events } = this.#deps
      this.#counting = { jobs: new JobMetrics(), process: new ProcessMetrics(events) }
      observers.add(this.#counting.jobs)
    }
    return this.#counting
  }

  #queues(): Promise<readonly QueueGauges[]> {
    const backends = this.#deps.backends()
    const now = backends[0]?.clock.now() ?? 0
    const last = this.#read
    if (last !== undefined && now >= last.at && now - last.at < freshMs) return last.gauges
    const gauges = Promise.all(backends.flatMap((each) => (each.backend.store === undefined ? [] : [gaugesOf(each)])))
    this.#read = { at: now, gauges }
    return gauges
  }

  async #workers(): Promise<readonly WorkerGauges[]> {
    const states = await Promise.all(
      this.#deps.backends().map(async ({ name, workerState }) => {
        const state = await workerState().catch(() => null)
        return state === null ? [] : [{ ...state, backend: name }]
      }),
    )
    return states.flat()
  }
}

/** A database that does not respond is reported as down. The other metrics are still exported. */
async function gaugesOf({ name, backend, clock }: MeasuredBackend): Promise<QueueGauges> {
  const { store } = backend
  const now = queueClock(backend, clock).now()
  try {
    if (store === undefined) throw new Error('it cannot be queried')
    const [counts, paused, workers] = await Promise.all([
      store.counts({ oldest: true }),
      store.paused().then(({ queues }) => queues),
      store.workers.list(),
    ])
    return { backend: name, isUp: true, counts, paused, workers, now }
  } catch {
    return { backend: name, isUp: false, counts: [], paused: [], workers: [], now }
  }
}
