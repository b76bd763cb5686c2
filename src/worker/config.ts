import { type Duration, parseDuration } from '../core/duration.ts'
import { messageOf, TreadleError } from '../core/errors.ts'
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
  /** Follow the schedules of the defined jobs; true by default. */
  readonly scheduler?: boolean
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

const workOptionNames = [
  'concurrency',
  'queues',
  'jobs',
  'lease',
  'poll',
  'scheduler',
  'signals',
  'grace',
  'maxRescues',
  'signal',
]
const runOptionNames = ['concurrency', 'queues', 'jobs', 'lease', 'scheduler', 'maxRescues', 'signal', 'limit']
const maxConcurrency = 10_000
const minLeaseMs = 1_000
const maxLeaseMs = 86_400_000

export function workerConfig(options: WorkOptions | RunOptions, kind: 'work' | 'run'): WorkerConfig {
  if (typeof options !== 'object' || options === null) {
    throw new TreadleError('CONFIG_INVALID', `The worker's options must be an object, got ${String(options)}`)
  }
  const { concurrency = 10, queues = null, jobs = null, maxRescues = 3 } = options
  const { poll = 1_000, grace = 30_000 } = options as WorkOptions
  const unreadable: string[] = []
  const leaseMs = durationOr(30_000, options.lease ?? 30_000, 'lease', unreadable)
  const pollMs = durationOr(1_000, poll, 'poll', unreadable)
  const graceMs = durationOr(30_000, grace, 'grace', unreadable)
  const limit = (options as RunOptions).limit
  const problems = [
    ...unreadable,
    ...unknownOptions(options, kind === 'work' ? workOptionNames : runOptionNames),
    ...(isWithin(concurrency, 1, maxConcurrency)
      ? []
      : [`concurrency must be a whole number from 1 to ${maxConcurrency}, got ${concurrency}`]),
    ...(isWithin(leaseMs, minLeaseMs, maxLeaseMs) ? [] : [`lease must be from 1s to 1d, got ${leaseMs} ms`]),
    ...(pollMs >= 10 ? [] : [`poll must be at least 10ms, got ${pollMs} ms`]),
    ...(isWithin(maxRescues, 0, 1_000) ? [] : [`maxRescues must be a whole number from 0 to 1000, got ${maxRescues}`]),
    ...(limit === undefined || isWithin(limit, 1, Number.MAX_SAFE_INTEGER)
      ? []
      : [`limit must be a whole number of at least 1, got ${limit}`]),
    ...switchProblems(options, ['scheduler', 'signals']),
    ...(options.signal === undefined || options.signal instanceof AbortSignal ? [] : ['signal must be an AbortSignal']),
    ...listProblems(queues, 'queues'),
    ...listProblems(jobs, 'jobs'),
  ]
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The worker's options are invalid: ${problems.join('; ')}`)
  return Object.freeze({ concurrency, queues, jobs, leaseMs, pollMs, graceMs, maxRescues })
}

/** A duration that can not be read is one of the problems, and must not hide the others. */
function durationOr(otherwiseMs: number, value: Duration, what: string, problems: string[]): number {
  try {
    return parseDuration(value, what)
  } catch (thrown) {
    problems.push(messageOf(thrown))
    return otherwiseMs
  }
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most
}

function switchProblems(options: WorkOptions, names: readonly ('scheduler' | 'signals')[]): readonly string[] {
  const wrong = names.filter((name) => options[name] !== undefined && typeof options[name] !== 'boolean')
  return wrong.map((name) => `${name} must be true or false, got ${String(options[name])}`)
}

function listProblems(list: unknown, what: string): readonly string[] {
  if (list === null) return []
  const sound = Array.isArray(list) && list.length > 0 && list.every((entry) => typeof entry === 'string' && entry !== '')
  return sound ? [] : [`${what} must be a list of names that is not empty`]
}
