import { version } from '../../core/version.ts'
import type { ObservedJob } from '../observer.ts'
import type { Family, HistogramSample, Sample } from './exposition.ts'
import type { Histogram } from './histogram.ts'
import { calls, type JobMetrics, type JobSeries, outcomes } from './job-metrics.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import { type QueueGauges, queueFamilies, type WorkerGauges, workerFamilies } from './queue-families.ts'

/** All measurements at one moment. */
export interface Measured {
  readonly jobs: JobMetrics
  readonly process: ProcessMetrics
  readonly queues: readonly QueueGauges[]
  readonly workers: readonly WorkerGauges[]
}

/** Which jobs the reader may see; null means all. Readers who may not see all jobs get no metrics of processes and workers. */
export type Sees = ((job: ObservedJob) => boolean) | null

export function familiesOf({ jobs, process, queues, workers }: Measured, sees: Sees): readonly Family[] {
  const own = [...jobFamilies(jobs, sees), ...queueFamilies(queues, sees)]
  if (sees !== null) return own
  return [
    gauge('treadle_build_info', 'The version of Treadle.', [{ labels: { version }, value: 1 }]),
    ...own,
    ...callFamilies(jobs),
    ...workerFamilies(workers),
    ...processFamilies(process),
  ]
}

/** Prometheus sees no increase in a counter whose first value is not 0: rates of these are what alerts ask for. */
const fromTheStart: ReadonlySet<string> = new Set(['succeeded', 'retried', 'dead'])

function jobFamilies({ jobs }: JobMetrics, sees: Sees): readonly Family[] {
  const all = [...jobs.entries()].filter(([queue, job]) => sees === null || sees({ queue, job }))
  const each = (value: (series: JobSeries) => number): readonly Sample[] =>
    all.map(([queue, job, series]) => ({ labels: { queue, job }, value: value(series) }))
  const times = (value: (series: JobSeries) => Histogram): readonly HistogramSample[] =>
    all.map(([queue, job, series]) => ({ labels: { queue, job }, histogram: value(series) }))
  const ends = all.flatMap(([queue, job, { ended }]) =>
    outcomes
      .filter((outcome) => ended[outcome] > 0 || fromTheStart.has(outcome))
      .map((outcome) => ({ labels: { queue, job, outcome }, value: ended[outcome] })),
  )
  return [
    counter(
      'treadle_jobs_dispatched_total',
      'Jobs that this process stored in the queue.',
      each((series) => series.dispatched),
    ),
    counter(
      'treadle_jobs_started_total',
      'Attempts that started in this process, or were handed out by it.',
      each((series) => series.started),
    ),
    counter('treadle_jobs_ended_total', 'Attempts that ended, by outcome.', ends),
    counter(
      'treadle_leases_lost_total',
      'Attempts whose lease had passed to another worker.',
      each(({ ended }) => ended.lost),
    ),
    seconds(
      'treadle_job_wait_seconds',
      'Time from when a job was due to when its attempt began.',
      times(({ waitSeconds }) => waitSeconds),
    ),
    seconds(
      'treadle_job_run_seconds',
      'How long attempts took.',
      times(({ runSeconds }) => runSeconds),
    ),
    seconds(
      'treadle_job_settle_seconds',
      'Time from the end of an attempt until that was stored.',
      times(({ settleSeconds }) => settleSeconds),
    ),
  ]
}

function callFamilies({ calls: series }: JobMetrics): readonly Family[] {
  const failed = calls.map((call) => ({ labels: { call }, value: series[call].failed }))
  const times = calls.map((call) => ({ labels: { call }, histogram: series[call].seconds }))
  return [
    seconds('treadle_backend_call_seconds', 'How long calls to the queue took, by call.', times),
    counter('treadle_backend_call_failures_total', 'Calls to the queue that failed, by call.', failed),
  ]
}

function processFamilies(process: ProcessMetrics): readonly Family[] {
  const one = (value: number) => [{ labels: {}, value }]
  return [
    seconds('treadle_event_loop_stall_seconds', 'How long the event loop was blocked while jobs ran.', [
      { labels: {}, histogram: process.stallSeconds },
    ]),
    counter('treadle_event_loop_stalls_total', 'How often the event loop was blocked while jobs ran.', one(process.stalls)),
    gauge(
      'treadle_scheduler_last_lag_seconds',
      'How late the scheduler of this process last checked its schedules.',
      one(process.lastLagSeconds),
    ),
    seconds('treadle_scheduler_lag_seconds', 'How late a scheduler checked its schedules.', [
      { labels: {}, histogram: process.lagSeconds },
    ]),
    counter(
      'treadle_schedule_failures_total',
      'Scheduled runs that could not be put into the queue.',
      one(process.failedSchedules),
    ),
    counter('treadle_schedule_missed_total', 'Scheduled runs that were missed.', one(process.missedRuns)),
    counter('treadle_breaker_opened_total', 'How often the circuit breaker opened.', one(process.breakerOpened)),
    counter('treadle_worker_errors_total', 'Failures of a worker that belong to no job.', one(process.errors)),
  ]
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'counter', samples }
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'gauge', samples }
}

function seconds(name: string, help: string, samples: readonly HistogramSample[]): Family {
  return { name, help, type: 'histogram', samples }
}
