import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { WorkerConfig } from '../config.ts'
import { isWithin } from '../option-values.ts'
import { lastWaitMs } from '../worker.ts'
import type { WearLimits } from './wear.ts'

/** How many worker processes to keep, and when to replace them. */
export interface SupervisorOptions {
  /** Number of worker processes. */
  readonly processes: number
  /** Replace a process after this many jobs. */
  readonly maxJobs?: number
  /** Replace a process that uses this much memory. */
  readonly maxMemoryBytes?: number
}

export interface SupervisorConfig extends WearLimits {
  readonly processes: number
  /** How long a process may take to exit after being told to drain. */
  readonly drainMs: number
  /** How long a process may take to exit after being told to abort. */
  readonly abortMs: number
}

export const mostProcesses = 256
/** How long a process that has finished its work may take to close its files. */
const closingMs = 5_000
const leastMemoryBytes = 32 * 1024 * 1024

export function supervisorConfig(options: SupervisorOptions, { graceMs }: WorkerConfig): SupervisorConfig {
  const { processes, maxJobs = null, maxMemoryBytes = null } = options
  const problems = [
    ...(isWithin(processes, 1, mostProcesses)
      ? []
      : [`processes must be a whole number from 1 to ${mostProcesses}, got ${shown(processes)}`]),
    ...(maxJobs === null || isWithin(maxJobs, 1, Number.MAX_SAFE_INTEGER)
      ? []
      : [`maxJobs must be a whole number of at least 1, got ${shown(maxJobs)}`]),
    ...(maxMemoryBytes === null || maxMemoryBytes >= leastMemoryBytes
      ? []
      : [`maxMemory must be at least 32mb, got ${maxMemoryBytes} bytes`]),
  ]
  if (problems.length > 0)
    throw new TreadleError('CONFIG_INVALID', `The supervisor's options are invalid: ${problems.join('; ')}`)
  const abortMs = lastWaitMs + closingMs
  return Object.freeze({ processes, maxJobs, maxMemoryBytes, drainMs: graceMs + abortMs, abortMs })
}
