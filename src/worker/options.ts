import type { Duration } from '../core/time/duration.ts'
import type { Instant } from '../core/time/instant.ts'
import type { BreakerOptions } from './health/breaker-config.ts'
import type { LoadOptions } from './health/load-config.ts'

/** Options of `jobs.work`. */
export interface WorkOptions {
  /** Jobs that run at once in this process; 10 by default. */
  readonly concurrency?: number
  /** Only these queues; all by default. */
  readonly queues?: readonly string[]
  /** Only these jobs, of which some may be patterns such as `mail-*`; all that are defined by default. */
  readonly jobs?: readonly string[]
  /** How long a job stays with a worker that gives no sign of life; it is renewed while the job runs. 30 s by default. */
  readonly lease?: Duration
  /** The longest time between two looks for work when nothing wakes the worker; 1 s by default. */
  readonly poll?: Duration
  /** Follow the schedules of the defined jobs; true by default. `'single'` lets only one scheduler do so at a time. */
  readonly scheduler?: boolean | 'single'
  /** Stop on SIGTERM and SIGINT; true by default. */
  readonly signals?: boolean
  /** How long a shutdown waits for running jobs before it aborts their signals; 30 s by default. */
  readonly grace?: Duration
  /** How many workers may die with a job before it is dead as poisoned; 3 by default. */
  readonly maxRescues?: number
  /** A standstill of the event loop that lasts longer is reported with the jobs that may have caused it; 1 s by default. */
  readonly stall?: Duration
  /** A job without a timeout that keeps the event loop still for longer than this loses its lease; 1 h by default. */
  readonly maxStall?: Duration
  /** So much waiting counts as one level of priority, so that no priority starves; null, the default, is strict priority. */
  readonly ageing?: Duration | null
  /** No job is claimed for a while after the queue has failed this many times in a row; false keeps claiming. */
  readonly breaker?: BreakerOptions | false
  /** Fewer jobs run at once while the machine or this process is busier than this; a number is the share of the machine's cores. */
  readonly maxLoad?: number | LoadOptions
  readonly signal?: AbortSignal
  /** Of several backends, only the one of this name; all by default. */
  readonly backend?: string
}

/** Options of `jobs.run`, which runs everything that is due, once. */
export interface RunOptions
  extends Pick<
    WorkOptions,
    | 'concurrency'
    | 'queues'
    | 'jobs'
    | 'lease'
    | 'scheduler'
    | 'maxRescues'
    | 'ageing'
    | 'stall'
    | 'maxStall'
    | 'breaker'
    | 'maxLoad'
    | 'signal'
    | 'backend'
  > {
  /** Start at most this many jobs. */
  readonly limit?: number
  /** Stop on SIGTERM and SIGINT; false by default. */
  readonly signals?: boolean
  /** Store what schedules have at this instant, in place of what is due now. */
  readonly at?: Instant
}

/** Options of `jobs.daemon`. */
export interface DaemonOptions extends WorkOptions {
  /** How often to look at the schedules; each minute by default, on the minute. */
  readonly tick?: Duration
  /** End after this many ticks in a row that took longer than their interval; 5 by default, 0 is never. */
  readonly maxOverruns?: number
}

/** What the three ways to work may be told together. */
export type AnyWorkOptions = WorkOptions & RunOptions & DaemonOptions

export type WorkKind = 'work' | 'run' | 'daemon'

const commonNames = [
  'concurrency',
  'queues',
  'jobs',
  'lease',
  'scheduler',
  'maxRescues',
  'ageing',
  'stall',
  'maxStall',
  'breaker',
  'maxLoad',
  'signal',
  'backend',
]
const workNames = [...commonNames, 'poll', 'signals', 'grace']

export const workOptionNames: Readonly<Record<WorkKind, readonly string[]>> = {
  work: workNames,
  run: [...commonNames, 'limit', 'at', 'signals'],
  daemon: [...workNames, 'tick', 'maxOverruns'],
}
