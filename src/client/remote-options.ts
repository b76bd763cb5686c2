import { messageOf, TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { shown } from '../core/text/shown.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import type { RemoteHandler } from './remote-run.ts'

/** A handler for each job name. `*`, `?` and `[a-z]` make a name a pattern; a literal name takes precedence. */
export type RemoteHandlers<Payloads> = { readonly [Job in keyof Payloads]: RemoteHandler<Payloads[Job]> }

/** Options of a worker that claims over HTTP. */
export interface RemoteWorkOptions {
  /** Maximum number of jobs that run at once; 10 by default. */
  readonly concurrency?: number
  /** Only these queues; all by default. */
  readonly queues?: readonly string[]
  /** How long a job stays claimed without a heartbeat; renewed while the job runs. 30 s by default. */
  readonly lease?: Duration
  /** How long one request waits for work; 20 s by default. */
  readonly wait?: Duration
  /** How long `stop()` waits for running jobs before it aborts their signals; 30 s by default. */
  readonly grace?: Duration
  /** The worker's name as shown with its jobs; by default, a name unique to each worker. */
  readonly owner?: string
  /** Stops the worker. */
  readonly signal?: AbortSignal
  /** Called with errors in talking to the server. The worker continues, unless the server denies it access. */
  readonly onError?: (error: unknown) => void
}

export interface RemoteWorkConfig {
  readonly jobs: readonly string[]
  readonly concurrency: number
  readonly queues: readonly string[] | undefined
  readonly leaseMs: number
  readonly waitMs: number
  readonly graceMs: number
  readonly owner: string | undefined
  readonly onError: (error: unknown) => void
}

const names: readonly (keyof RemoteWorkOptions)[] = [
  'concurrency',
  'queues',
  'lease',
  'wait',
  'grace',
  'owner',
  'signal',
  'onError',
]

/** Complete and validated; reports all problems at once. */
export function remoteWorkConfig(handlers: object, options: RemoteWorkOptions): RemoteWorkConfig {
  const problems: string[] = [...unknownOptions(options, names)]
  const jobs = Object.keys(handlers)
  const { concurrency = 10, queues, owner, onError = () => {} } = options
  if (jobs.length === 0) problems.push('there is no handler, so there is nothing to work on')
  for (const [job, handler] of Object.entries(handlers)) {
    if (typeof handler !== 'function') problems.push(`the handler of "${job}" must be a function, got ${typeof handler}`)
  }
  if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > mostAtOnce) {
    problems.push(`concurrency must be a whole number from 1 to ${mostAtOnce}, got ${shown(concurrency)}`)
  }
  const duration = (name: 'lease' | 'wait' | 'grace', standard: Duration) => {
    try {
      return parseDuration(options[name] ?? standard, name)
    } catch (thrown) {
      problems.push(messageOf(thrown))
      return 0
    }
  }
  const config = {
    jobs,
    concurrency,
    queues,
    leaseMs: duration('lease', '30s'),
    waitMs: duration('wait', '20s'),
    graceMs: duration('grace', '30s'),
    owner,
    onError,
  }
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The remote worker: ${problems.join('; ')}`)
  return config
}

/** The server's maximum number of jobs per claim. */
const mostAtOnce = 1_000
