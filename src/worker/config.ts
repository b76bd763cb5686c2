import { TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { shown } from '../core/text/shown.ts'
import type { BreakerConfig } from './health/breaker/breaker.ts'
import { breakerConfig } from './health/breaker/breaker-config.ts'
import type { LoadLimits } from './health/load/load.ts'
import { loadLimits } from './health/load/load-config.ts'
import { durationOr, isSwitch, isWithin, listProblems } from './option-values.ts'
import { type AnyWorkOptions, type WorkKind, workOptionNames } from './options.ts'
import { schedulerProblems } from './scheduler/scheduler-config.ts'

export interface WorkerConfig {
  readonly name: string | null
  readonly concurrency: number
  readonly queues: readonly string[] | null
  readonly jobs: readonly string[] | null
  readonly leaseMs: number
  readonly pollMs: number
  readonly graceMs: number
  readonly maxRescues: number
  readonly stallMs: number
  readonly maxStallMs: number
  readonly ageingMs: number | null
  /** Null disables the breaker. */
  readonly breaker: BreakerConfig | null
  readonly maxLoad: LoadLimits | null
}

const maxConcurrency = 10_000
const minLeaseMs = 1_000
const maxLeaseMs = 86_400_000
const minStallMs = 100
const hourMs = 3_600_000
const maxAgeingMs = 31 * 86_400_000
const longestWorkerName = 64

/** Complete and validated config. All problems are reported together. */
export function workerConfig(options: AnyWorkOptions, kind: WorkKind): WorkerConfig {
  if (typeof options !== 'object' || options === null) {
    throw new TreadleError('CONFIG_INVALID', `The worker's options must be an object, got ${shown(options)}`)
  }
  const { name = null, concurrency = 10, queues = null, jobs = null, maxRescues = 3 } = options
  const problems: string[] = [...unknownOptions(options, workOptionNames[kind])]
  const leaseMs = durationOr(30_000, options.lease, 'lease', problems)
  const pollMs = durationOr(1_000, options.poll, 'poll', problems)
  const graceMs = durationOr(30_000, options.grace, 'grace', problems)
  const stallMs = durationOr(1_000, options.stall, 'stall', problems)
  const maxStallMs = durationOr(Math.max(hourMs, leaseMs), options.maxStall, 'maxStall', problems)
  const ageingMs = options.ageing == null ? null : durationOr(1, options.ageing, 'ageing', problems)
  if (ageingMs !== null && !isWithin(ageingMs, 1, maxAgeingMs))
    problems.push(`ageing must be from 1ms to 31d, got ${ageingMs} ms`)
  const breaker = breakerConfig(options.breaker, problems)
  const maxLoad = loadLimits(options.maxLoad, problems)
  if (name !== null && !isWorkerName(name))
    problems.push(`name must be up to ${longestWorkerName} letters, digits and - _ . @ /, got ${shown(name)}`)
  if (!isWithin(concurrency, 1, maxConcurrency))
    problems.push(`concurrency must be a whole number from 1 to ${maxConcurrency}, got ${shown(concurrency)}`)
  if (!isWithin(leaseMs, minLeaseMs, maxLeaseMs)) problems.push(`lease must be from 1s to 1d, got ${leaseMs} ms`)
  if (pollMs < 10) problems.push(`poll must be at least 10ms, got ${pollMs} ms`)
  if (!isWithin(maxRescues, 0, 1_000)) problems.push(`maxRescues must be a whole number from 0 to 1000, got ${shown(maxRescues)}`)
  if (stallMs < minStallMs) problems.push(`stall must be at least 100ms, got ${stallMs} ms`)
  if (maxStallMs < leaseMs) problems.push(`maxStall must be at least as long as the lease, got ${maxStallMs} ms`)
  problems.push(...listProblems(queues, 'queues'), ...listProblems(jobs, 'jobs'))
  problems.push(...endProblems(options), ...schedulerProblems(options))
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The worker's options are invalid: ${problems.join('; ')}`)
  const times = { leaseMs, pollMs, graceMs, stallMs, maxStallMs, ageingMs }
  return Object.freeze({ name, concurrency, queues, jobs, maxRescues, ...times, breaker, maxLoad })
}

function isWorkerName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= longestWorkerName && /^[\w.@/-]+$/.test(name)
}

/** Problems with the options that end a worker. */
function endProblems({ limit, signals, signal }: AnyWorkOptions): readonly string[] {
  const isSoundLimit = limit === undefined || isWithin(limit, 1, Number.MAX_SAFE_INTEGER)
  return [
    ...(isSoundLimit ? [] : [`limit must be a whole number of at least 1, got ${shown(limit)}`]),
    ...(isSwitch(signals) ? [] : [`signals must be true or false, got ${shown(signals)}`]),
    ...(signal === undefined || signal instanceof AbortSignal ? [] : ['signal must be an AbortSignal']),
  ]
}
