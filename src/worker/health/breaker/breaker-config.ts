import { unknownOptions } from '../../../core/options.ts'
import { shown } from '../../../core/text/shown.ts'
import type { Duration } from '../../../core/time/duration.ts'
import { durationOr, isWithin } from '../../option-values.ts'
import type { BreakerConfig } from './breaker.ts'

/** When the circuit breaker of a worker opens, and for how long. */
export interface BreakerOptions {
  /** Number of consecutive failed calls after which the worker stops claiming jobs. Default: 5. */
  readonly threshold?: number
  /** How long to wait before trying one claim again. Default: 15s. */
  readonly cooldown?: Duration
}

const mostFailures = 1_000
const leastCooldownMs = 100

/** Null if the breaker is disabled. */
export function breakerConfig(option: BreakerOptions | false | undefined, problems: string[]): BreakerConfig | null {
  if (option === false) return null
  if (option !== undefined && (typeof option !== 'object' || option === null)) {
    problems.push(`breaker must be false or { threshold, cooldown }, got ${shown(option)}`)
    return null
  }
  const { threshold = 5, cooldown } = option ?? {}
  problems.push(...unknownOptions(option ?? {}, ['threshold', 'cooldown']).map((problem) => `breaker: ${problem}`))
  const cooldownMs = durationOr(15_000, cooldown, 'breaker.cooldown', problems)
  if (!isWithin(threshold, 1, mostFailures))
    problems.push(`breaker.threshold must be a whole number from 1 to ${mostFailures}, got ${shown(threshold)}`)
  if (cooldownMs < leastCooldownMs) problems.push(`breaker.cooldown must be at least 100ms, got ${cooldownMs} ms`)
  return { threshold, cooldownMs }
}
