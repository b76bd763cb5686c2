import type * as OpenTelemetry from '@opentelemetry/api'
import { version } from '../../core/version.ts'
import type { Family, Labels } from '../metrics/exposition.ts'
import { secondsBounds } from '../metrics/histogram.ts'
import type { BackendCall, ObservedEnd, ObservedJob, Observer } from '../observer.ts'

type Api = typeof OpenTelemetry

/** What the metrics are read from. */
export interface MeasuredSource {
  /** All current counts and measurements. */
  families(): Promise<readonly Family[]>
  /** The labels under which a job is counted: its own, or those of the rest if there are too many. */
  labelsOf(job: ObservedJob): Labels
}

/**
 * The same metrics through OpenTelemetry. Counters and gauges are read from the existing counts when the SDK's reader asks for
 * them. Durations are recorded as they are measured, because the API accepts them in no other way.
 */
export class OtelMetrics implements Observer {
  readonly #source: MeasuredSource
  readonly #meter: OpenTelemetry.Meter
  /** Passed explicitly to avoid looking up the active context: these durations belong to no span. */
  readonly #context: OpenTelemetry.Context
  readonly #wait: OpenTelemetry.Histogram
  readonly #run: OpenTelemetry.Histogram
  readonly #settle: OpenTelemetry.Histogram
  readonly #call: OpenTelemetry.Histogram
  readonly #observables = new Map<string, OpenTelemetry.Observable>()
  readonly #read = (result: OpenTelemetry.BatchObservableResult) => this.#observe(result)

  constructor({ metrics, ROOT_CONTEXT }: Api, source: MeasuredSource) {
    this.#context = ROOT_CONTEXT
    this.#source = source
    this.#meter = metrics.getMeter('treadle', version)
    this.#wait = this.#seconds('treadle.job.wait', 'Time from when a job was due to when its attempt began')
    this.#run = this.#seconds('treadle.job.run', 'How long attempts took')
    this.#settle = this.#seconds('treadle.job.settle', 'Time from the end of an attempt until that was stored')
    this.#call = this.#seconds('treadle.backend.call', 'How long calls to the queue took, by call')
    for (const [name, make] of observables) this.#observables.set(name, make(this.#meter))
    this.#meter.addBatchObservableCallback(this.#read, [...this.#observables.values()])
  }

  close(): void {
    this.#meter.removeBatchObservableCallback(this.#read, [...this.#observables.values()])
  }

  dispatched(): void {}

  started(job: ObservedJob, waitMs: number): void {
    this.#wait.record(waitMs / 1_000, this.#source.labelsOf(job), this.#context)
  }

  ended(job: ObservedJob, { runMs, settleMs }: ObservedEnd): void {
    const labels = this.#source.labelsOf(job)
    if (runMs !== null) this.#run.record(runMs / 1_000, labels, this.#context)
    if (settleMs !== null) this.#settle.record(settleMs / 1_000, labels, this.#context)
  }

  called(call: BackendCall, ms: number): void {
    this.#call.record(ms / 1_000, callLabels[call], this.#context)
  }

  async #observe(result: OpenTelemetry.BatchObservableResult): Promise<void> {
    for (const { name, type, samples } of await this.#source.families()) {
      const observable = this.#observables.get(name)
      if (observable === undefined || type === 'histogram') continue
      for (const { labels, value } of samples) result.observe(observable, value, labels)
    }
  }

  #seconds(name: string, description: string): OpenTelemetry.Histogram {
    const advice = { explicitBucketBoundaries: [...secondsBounds] }
    return this.#meter.createHistogram(name, { description, unit: 's', advice })
  }
}

const callLabels: Readonly<Record<BackendCall, Labels>> = {
  send: { call: 'send' },
  lease: { call: 'lease' },
  settle: { call: 'settle' },
  extend: { call: 'extend' },
}

type Make = (meter: OpenTelemetry.Meter) => OpenTelemetry.Observable

/** By their Prometheus names, which Prometheus also derives from the OpenTelemetry names. */
const observables: readonly (readonly [family: string, make: Make])[] = [
  ['treadle_jobs_dispatched_total', counter('treadle.jobs.dispatched', 'Jobs that this process stored in the queue')],
  ['treadle_jobs_started_total', counter('treadle.jobs.started', 'Attempts that started in this process')],
  ['treadle_jobs_ended_total', counter('treadle.jobs.ended', 'Attempts that ended, by outcome')],
  ['treadle_leases_lost_total', counter('treadle.leases.lost', 'Attempts whose lease had passed to another worker')],
  ['treadle_backend_call_failures_total', counter('treadle.backend.call.failures', 'Calls to the queue that failed, by call')],
  ['treadle_schedule_failures_total', counter('treadle.schedule.failures', 'Scheduled runs that could not be stored')],
  ['treadle_schedule_missed_total', counter('treadle.schedule.missed', 'Scheduled runs that were missed')],
  ['treadle_breaker_opened_total', counter('treadle.breaker.opened', 'How often the circuit breaker opened')],
  ['treadle_worker_errors_total', counter('treadle.worker.errors', 'Failures of a worker that belong to no job')],
  ['treadle_event_loop_stalls_total', counter('treadle.event_loop.stalls', 'Standstills of the event loop while jobs ran')],
  ['treadle_queue_up', gauge('treadle.queue.up', 'Whether the queue could be read')],
  ['treadle_queue_jobs', gauge('treadle.queue.jobs', 'Jobs in a queue, by state')],
  ['treadle_queue_oldest_seconds', gauge('treadle.queue.oldest', 'How long the oldest ready job has waited', 's')],
  ['treadle_queue_paused', gauge('treadle.queue.paused', 'Whether a queue is paused')],
  ['treadle_workers', gauge('treadle.workers', 'Live workers')],
  ['treadle_worker_running_jobs', gauge('treadle.worker.running_jobs', 'Jobs that run in this process')],
  ['treadle_worker_concurrency', gauge('treadle.worker.concurrency', 'Maximum number of concurrent jobs in this process')],
  [
    'treadle_worker_allowed_jobs',
    gauge('treadle.worker.allowed_jobs', 'Its maximum number of concurrent jobs at the current load'),
  ],
  ['treadle_breaker_state', gauge('treadle.breaker.state', 'The state of the circuit breaker')],
  [
    'treadle_scheduler_last_lag_seconds',
    gauge('treadle.scheduler.last_lag', 'How late the scheduler last checked its schedules', 's'),
  ],
]

function counter(name: string, description: string): Make {
  return (meter) => meter.createObservableCounter(name, { description })
}

function gauge(name: string, description: string, unit = ''): Make {
  return (meter) => meter.createObservableGauge(name, { description, unit })
}
