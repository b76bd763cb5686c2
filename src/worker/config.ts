import { type Duration, parseDuration } from '../core/duration.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
import { type Instant, parseInstant } from '../core/instant.ts'
import { unknownOptions } from '../core/options.ts'

export interface WorkOptions {
  /** Jobs that run at once in this process; 10 by default. */
  readonly concurrency?: number
  /** Only these queues; all by default. */
  readonly queues?: readonly string[]
  /** Only these jobs; all that are defined by default. */
  readonly jobs?: readonly string[]
  /** How long a job stays with a worker that gives no sign of life; it is renewed while the job runs. 30 s by default. */
  readonly lease?: Duration
  /** How often to look when nothing wakes the worker; 1 s by default. */
  readonly poll?: Duration
  /** Follow the schedules of the defined jobs; true by default. `'single'` lets only one scheduler do so at a time. */
  readonly scheduler?: boolean | 'single'
  /** Stop on SIGTERM and SIGINT; true by default. */
  readonly signals?: boolean
  /** How long a shutdown waits for running jobs before it aborts their signals; 30 s by default. */
  readonly grace?: Duration
  /** How many workers may die with a job before it is dead as poisoned; 3 by default. */
  readonly maxRescues?: number
  readonly signal?: AbortSignal
}

export interface RunOptions
  extends Pick<WorkOptions, 'concurrency' | 'queues' | 'jobs' | 'lease' | 'scheduler' | 'maxRescues' | 'signal'> {
  /** Start at most so many jobs. */
  readonly limit?: number
  /** Stop on SIGTERM and SIGINT; false by default. */
  readonly signals?: boolean
  /** Store what schedules have at this instant, in place of what is due now. */
  readonly at?: Instant
}

export interface DaemonOptions extends WorkOptions {
  /** How often to look at the schedules; each minute by default, on the minute. */
  readonly tick?: Duration
  /** End after so many ticks in a row that took longer than their interval; 5 by default, 0 is never. */
  readonly maxOverruns?: number
}

export interface WorkerConfig {
  readonly concurrency: number
  readonly queues: readonly string[] | null
  readonly jobs: readonly string[] | null
  readonly leaseMs: number
  readonly pollMs: number
  readonly graceMs: number
  readonly maxRescues: number
}

/** How the schedules are followed, or null where they are not. */
export interface SchedulerConfig {
  readonly isSingle: boolean
  /** Null is from occurrence to occurrence. */
  readonly tickMs: number | null
  readonly maxOverruns: number | null
  /** The instant to look at in place of now. */
  readonly at: number | null
}

export type WorkKind = 'work' | 'run' | 'daemon'

const commonNames = ['concurrency', 'queues', 'jobs', 'lease', 'scheduler', 'maxRescues', 'signal']
const workNames = [...commonNames, 'poll', 'signals', 'grace']
const optionNames: Readonly<Record<WorkKind, readonly string[]>> = {
  work: workNames,
  run: [...commonNames, 'limit', 'at', 'signals'],
  daemon: [...workNames, 'tick', 'maxOverruns'],
}
const maxConcurrency = 10_000
const minLeaseMs = 1_000
const maxLeaseMs = 86_400_000
const minTickMs = 1_000
const maxTickMs = 3_600_000

type AnyOptions = WorkOptions & RunOptions & DaemonOptions

export function workerConfig(options: AnyOptions, kind: WorkKind): WorkerConfig {
  if (typeof options !== 'object' || options === null) {
    throw new TreadleError('CONFIG_INVALID', `The worker's options must be an object, got ${String(options)}`)
  }
  const { concurrency = 10, queues = null, jobs = null, maxRescues = 3, limit } = options
  const unreadable: string[] = []
  const leaseMs = readOr(30_000, () => parseDuration(options.lease ?? 30_000, 'lease'), unreadable)
  const pollMs = readOr(1_000, () => parseDuration(options.poll ?? 1_000, 'poll'), unreadable)
  const graceMs = readOr(30_000, () => parseDuration(options.grace ?? 30_000, 'grace'), unreadable)
  const problems = [
    ...unreadable,
    ...unknownOptions(options, optionNames[kind]),
    ...(isWithin(concurrency, 1, maxConcurrency)
      ? []
      : [`concurrency must be a whole number from 1 to ${maxConcurrency}, got ${concurrency}`]),
    ...(isWithin(leaseMs, minLeaseMs, maxLeaseMs) ? [] : [`lease must be from 1s to 1d, got ${leaseMs} ms`]),
    ...(pollMs >= 10 ? [] : [`poll must be at least 10ms, got ${pollMs} ms`]),
    ...(isWithin(maxRescues, 0, 1_000) ? [] : [`maxRescues must be a whole number from 0 to 1000, got ${maxRescues}`]),
    ...(limit === undefined || isWithin(limit, 1, Number.MAX_SAFE_INTEGER)
      ? []
      : [`limit must be a whole number of at least 1, got ${limit}`]),
    ...(isSwitch(options.signals) ? [] : [`signals must be true or false, got ${String(options.signals)}`]),
    ...(options.signal === undefined || options.signal instanceof AbortSignal ? [] : ['signal must be an AbortSignal']),
    ...listProblems(queues, 'queues'),
    ...listProblems(jobs, 'jobs'),
    ...schedulerProblems(options),
  ]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The worker's options are invalid: ${problems.join('; ')}`)
  return Object.freeze({ concurrency, queues, jobs, leaseMs, pollMs, graceMs, maxRescues })
}

/** Of options that `workerConfig` has found sound. */
export function schedulerConfig(options: AnyOptions, kind: WorkKind): SchedulerConfig | null {
  const { scheduler = true, tick = 60_000, maxOverruns = 5, at } = options
  if (scheduler === false) return null
  return {
    isSingle: scheduler === 'single',
    tickMs: kind === 'daemon' ? parseDuration(tick, 'tick') : null,
    maxOverruns: kind === 'daemon' && maxOverruns > 0 ? maxOverruns : null,
    at: at === undefined ? null : parseInstant(at, 'at'),
  }
}

function schedulerProblems({ scheduler, tick = 60_000, maxOverruns = 5, at }: AnyOptions): readonly string[] {
  const problems: string[] = []
  const tickMs = readOr(60_000, () => parseDuration(tick, 'tick'), problems)
  readOr(0, () => (at === undefined ? 0 : parseInstant(at, 'at')), problems)
  if (!isSwitch(scheduler) && scheduler !== 'single')
    problems.push(`scheduler must be true, false or 'single', got ${String(scheduler)}`)
  if (!isWithin(tickMs, minTickMs, maxTickMs)) problems.push(`tick must be from 1s to 1h, got ${tickMs} ms`)
  if (!isWithin(maxOverruns, 0, 1_000_000)) problems.push(`maxOverruns must be a whole number, got ${maxOverruns}`)
  if (at !== undefined && scheduler === false) problems.push('at has no meaning without the scheduler')
  return problems
}

/** What can not be read is one of the problems, and must not hide the others. */
function readOr(otherwise: number, read: () => number, problems: string[]): number {
  try {
    return read()
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return otherwise
  }
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most
}

function isSwitch(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean'
}

function listProblems(list: unknown, what: string): readonly string[] {
  if (list === null) return []
  const sound = Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === 'string' && entry !== '')
  return sound ? [] : [`${what} must be a list of names that is not empty`]
}
