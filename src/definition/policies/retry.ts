import { messageOf, TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type Duration, formatDuration, longestDurationMs, parseDuration } from '../../core/time/duration.ts'

/** How long to wait before the next attempt. Every strategy except `none` is capped at `maxMs` after jitter. */
export interface RetryPolicy {
  readonly strategy: 'none' | 'fixed' | 'exponential'
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
  /**
   * `full`: between 0 and the delay; `equal`: between half of the delay and all of it; a number: plus or minus that fraction of
   * it.
   */
  readonly jitter: 'none' | 'full' | 'equal' | number
}

/** The delay between attempts. */
export interface RetryOptions {
  readonly strategy?: RetryPolicy['strategy']
  readonly base?: Duration
  readonly factor?: number
  readonly max?: Duration
  readonly jitter?: RetryPolicy['jitter']
}

/** Returns the delay after attempt number `attempt` (starting at 1) failed with `error`. */
export type BackoffFunction = (attempt: number, error: unknown) => Duration

/** The delay between attempts: options, or a function that computes it. */
export type Backoff = RetryOptions | BackoffFunction

export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  strategy: 'exponential',
  baseMs: 1_000,
  factor: 2,
  maxMs: 60_000,
  jitter: 'full',
})

/**
 * Ready-made options: retry immediately, with a fixed delay, or with a delay that doubles up to five minutes and varies by 15 %.
 */
export const retryPresets = {
  immediate: { strategy: 'none' },
  fixed: { strategy: 'fixed', base: '5s', jitter: 0.15, max: '5m' },
  gentle: { strategy: 'exponential', base: '5s', factor: 2, max: '5m', jitter: 0.15 },
} as const satisfies Record<string, RetryOptions>

export function backoffOf(given: Backoff): RetryPolicy | BackoffFunction {
  return typeof given === 'function' ? given : retryPolicy(given)
}

export function retryPolicy(options: RetryOptions): RetryPolicy {
  refuse(unknownOptions(options, optionNames))
  const baseMs = options.base === undefined ? defaultRetryPolicy.baseMs : parseDuration(options.base, 'backoff base')
  const policy: RetryPolicy = {
    strategy: options.strategy ?? defaultRetryPolicy.strategy,
    baseMs,
    factor: options.factor ?? defaultRetryPolicy.factor,
    // The default maximum never shortens a base that was given explicitly.
    maxMs: options.max === undefined ? Math.max(baseMs, defaultRetryPolicy.maxMs) : parseDuration(options.max, 'backoff max'),
    jitter: options.jitter ?? defaultRetryPolicy.jitter,
  }
  const { strategy, factor, maxMs, jitter } = policy
  refuse([
    ...(['none', 'fixed', 'exponential'].includes(strategy)
      ? []
      : [`strategy must be none, fixed or exponential, got ${shown(strategy)}`]),
    ...(Number.isFinite(factor) && factor >= 1 ? [] : [`factor must be at least 1, got ${shown(factor)}`]),
    ...(options.base === undefined || baseMs <= maxMs
      ? []
      : [`max must be at least as long as the ${formatDuration(baseMs)} of base, got ${formatDuration(maxMs)}`]),
    ...(jitterIsSound(jitter) ? [] : [`jitter must be none, full, equal or a number from 0 to 1, got ${shown(jitter)}`]),
  ])
  return Object.freeze(policy)
}

const optionNames: readonly (keyof RetryOptions)[] = ['strategy', 'base', 'factor', 'max', 'jitter']

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new TreadleError('DEFINITION_INVALID', `The backoff is invalid: ${problems.join('; ')}`)
}

/**
 * The delay in milliseconds after attempt number `attempt` (starting at 1) failed. If a backoff function throws or returns an
 * invalid duration, the default policy applies, and `warn` is called.
 */
export function retryDelayMs(
  policy: RetryPolicy | BackoffFunction,
  attempt: number,
  random: () => number,
  error?: unknown,
  warn?: (problem: string) => void,
): number {
  if (typeof policy === 'function') {
    return askedDelayMs(policy, attempt, error, warn) ?? retryDelayMs(defaultRetryPolicy, attempt, random)
  }
  if (policy.strategy === 'none') return 0
  // Bounded, because a base of 0 times an infinite growth is NaN.
  const growth = policy.strategy === 'exponential' ? Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER) : 1
  // A hand-written policy may have no maximum, but the resulting instant must be finite.
  const longestMs = Math.min(policy.maxMs, longestDurationMs)
  const delayMs = Math.min(policy.baseMs * growth, longestMs)
  return Math.round(Math.min(jittered(delayMs, policy.jitter, random), longestMs))
}

function askedDelayMs(
  ask: BackoffFunction,
  attempt: number,
  error: unknown,
  warn: ((problem: string) => void) | undefined,
): number | undefined {
  try {
    return Math.min(parseDuration(ask(attempt, error), 'what its backoff function returns'), longestDurationMs)
  } catch (thrown) {
    warn?.(`its backoff function failed, so the default backoff is used: ${messageOf(thrown)}`)
    return undefined
  }
}

function jittered(delayMs: number, jitter: RetryPolicy['jitter'], random: () => number): number {
  switch (jitter) {
    case 'none':
      return delayMs
    case 'full':
      return delayMs * random()
    case 'equal':
      return delayMs * (0.5 + random() / 2)
    default:
      return delayMs * (1 + jitter * (2 * random() - 1))
  }
}

function jitterIsSound(jitter: unknown): boolean {
  return typeof jitter === 'number' ? jitter >= 0 && jitter <= 1 : ['none', 'full', 'equal'].includes(jitter as string)
}
