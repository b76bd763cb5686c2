import type { Duration } from '../core/time/duration.ts'
import type { Instant } from '../core/time/instant.ts'
import type { BreakerOptions } from './health/breaker/breaker-config.ts'
import type { LoadOptions } from './health/load/load-config.ts'

/** Options of `jobs.work`. */
export interface WorkOptions {
  /** What people call this worker, in lists and as the owner of its jobs. Default: the name of the host. */
  readonly name?: string
  /** Maximum number of jobs that run at once in this process. Default: 10. */
  readonly concurrency?: number
  /** Work only on these queues. Default: all queues. */
  readonly queues?: readonly string[]
  /** Work only on these jobs: keys, or patterns such as `mail-*`. Default: all defined jobs. */
  readonly jobs?: readonly string[]
  /** How long a job stays with a worker that no longer responds. The lease is renewed while the job runs. Default: 30s. */
  readonly lease?: Duration
  /** Maximum time between two polls when nothing wakes the worker. Default: 1s. */
  readonly poll?: Duration
  /**
   * Whether to follow the schedules of the defined jobs. `'single'` allows only one active scheduler at a time. Default: true.
   */
  readonly scheduler?: boolean | 'single'
  /** Whether to stop on SIGTERM and SIGINT. Default: true. */
  readonly signals?: boolean
  /** How long a shutdown waits for running jobs before it aborts their signals. Default: 30s. */
  readonly grace?: Duration
  /** How many workers may die while running a job before the job becomes dead as poisoned. Default: 3. */
  readonly maxRescues?: number
  /** Reports when the event loop is blocked for longer than this, with the jobs that may have caused it. Default: 1s. */
  readonly stall?: Duration
  /** A job without a timeout that blocks the event loop for longer than this loses its lease. Default: 1h. */
  readonly maxStall?: Duration
  /**
   * Waiting this long raises a job by one level of priority, so that no priority starves. Default: null, which is strict
   * priority.
   */
  readonly ageing?: Duration | null
  /** Stops claiming jobs for a while after the queue has failed several times in a row. False disables the breaker. */
  readonly breaker?: BreakerOptions | false
  /**
   * Runs fewer jobs at once while the machine or this process is busier than this. A number is the share of the machine's cores.
   */
  readonly maxLoad?: number | LoadOptions
  /** Stops the worker when it aborts. */
  readonly signal?: AbortSignal
  /** Work only on the backend with this name. Default: all backends. */
  readonly backend?: string
}

/** Options of `jobs.run`, which makes a single pass over everything that is due. */
export interface RunOptions
  extends Pick<
    WorkOptions,
    | 'name'
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
  /** Maximum number of jobs to start. */
  readonly limit?: number
  /** Whether to stop on SIGTERM and SIGINT. Default: false. */
  readonly signals?: boolean
  /** Enqueue the occurrences that schedules have at this time, instead of those due now. */
  readonly at?: Instant
}

/** Options of `jobs.daemon`. */
export interface DaemonOptions extends WorkOptions {
  /** How often to check the schedules, aligned to the minute. Default: 1m. */
  readonly tick?: Duration
  /**
   * Maximum number of consecutive ticks that take longer than their interval before the daemon ends. 0 means no limit. Default:
   * 5.
   */
  readonly maxOverruns?: number
}

/** The options of all three ways to work. */
export type AnyWorkOptions = WorkOptions & RunOptions & DaemonOptions

export type WorkKind = 'work' | 'run' | 'daemon'

const commonNames = [
  'name',
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
