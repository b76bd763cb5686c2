import { unknownOptions } from '../../../core/options.ts'
import { shown } from '../../../core/text/shown.ts'
import type { Duration } from '../../../core/time/duration.ts'
import { durationOr } from '../../option-values.ts'
import type { LoadLimits } from './load.ts'

/** While one of these limits is exceeded, the worker runs fewer jobs at once. */
export interface LoadOptions {
  /** Maximum share of the machine's cores in use, from 0 to 1. */
  readonly cpu?: number
  /** Maximum lag of the event loop. */
  readonly lag?: Duration
  /** Maximum memory of the process in bytes. */
  readonly memory?: number
}

const leastCpu = 0.05
const leastLagMs = 10
const leastMemoryBytes = 32 * 1024 * 1024

/** A number limits only the CPU. Null if nothing is limited. */
export function loadLimits(option: number | LoadOptions | undefined, problems: string[]): LoadLimits | null {
  if (option === undefined) return null
  const isNumber = typeof option === 'number'
  if (!isNumber && (typeof option !== 'object' || option === null)) {
    problems.push(`maxLoad must be a number or { cpu, lag, memory }, got ${shown(option)}`)
    return null
  }
  const { cpu = null, lag, memory = null } = isNumber ? { cpu: option } : option
  const [cpuName, known] = isNumber ? ['maxLoad', option] : ['maxLoad.cpu', option]
  if (typeof known === 'object')
    problems.push(...unknownOptions(known, ['cpu', 'lag', 'memory']).map((each) => `maxLoad: ${each}`))
  const lagMs = lag === undefined ? null : durationOr(leastLagMs, lag, 'maxLoad.lag', problems)
  if (cpu !== null && !(cpu >= leastCpu && cpu <= 1))
    problems.push(`${cpuName} is a share of the machine's cores and must be from ${leastCpu} to 1, got ${shown(cpu)}`)
  if (lagMs !== null && lagMs < leastLagMs) problems.push(`maxLoad.lag must be at least 10ms, got ${lagMs} ms`)
  if (memory !== null && !(Number.isSafeInteger(memory) && memory >= leastMemoryBytes))
    problems.push(`maxLoad.memory is a number of bytes and must be at least ${leastMemoryBytes}, got ${shown(memory)}`)
  return { cpu, lagMs, memoryBytes: memory }
}
