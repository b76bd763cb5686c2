import { TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { type Duration, formatDuration, longestDurationMs, parseDuration } from '../../core/time/duration.ts'

/** How long to wait before the next attempt. All strategies but `none` clamp to `maxMs` after the jitter. */
export interface RetryPolicy {
  readonly strategy: 'none' | 'fixed' | 'exponential'
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
  /** `full`: anywhere up to the delay; `equal`: between half of it and all; a number: so much of it more or less. */
  readonly jitter: 'none' | 'full' | 'equal' | number
}

/** The pauses between attempts: strategy, base, factor, maximum and jitter. */
export interface RetryOptions {
  readonly strategy?: RetryPolicy['strategy']
  readonly base?: Duration
  readonly factor?: number
  readonly max?: Duration
  readonly jitter?: RetryPolicy['jitter']
}

/** The pause after the attempt with this number (1 for the first) failed with this error. */
export type BackoffFunction = (attempt: number, error: unknown) => Duration

/** How long to wait before the next attempt, as users say it. */
export type Backoff = RetryOptions | BackoffFunction

export const defaultRetryPolicy: RetryPolicy = Object.freeze({
  strategy: 'exponential',
  baseMs: 1_000,
  factor: 2,
  maxMs: 60_000,
  jitter: 'full',
})

/** Retries leave at once, with a fixed pause, or with a pause that doubles to five minutes and varies by 15 %. */
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
    // A pause that was asked for is never cut short by a limit that was not.
    maxMs: options.max === undefined ? Math.max(baseMs, defaultRetryPolicy.maxMs) : parseDuration(options.max, 'backoff max'),
    jitter: options.jitter ?? defaultRetryPolicy.jitter,
  }
  const { strategy, factor, maxMs, jitter } = policy
  refuse([
    ...(['none', 'fixed', 'exponential'].includes(strategy)
      ? []
      : [`strategy must be none, fixed or exponential, got ${JSON.stringify(strategy)}`]),
    ...(Number.isFinite(factor) && factor >= 1 ? [] : [`factor must be at least 1, got ${factor}`]),
    ...(options.base === undefined || baseMs <= maxMs
      ? []
      : [`max must be at least as long as the ${formatDuration(baseMs)} of base, got ${formatDuration(maxMs)}`]),
    ...(jitterIsSound(jitter) ? [] : [`jitter must be none, full, equal or a number from 0 to 1, got ${JSON.stringify(jitter)}`]),
  ])
  return Object.freeze(policy)
}

const optionNames: readonly (keyof RetryOptions)[] = ['strategy', 'base', 'factor', 'max', 'jitter']

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new TreadleError('DEFINITION_INVALID', `The backoff is invalid: ${problems.join('; ')}`)
}

/** The pause after the attempt with this number (1 for the first) failed. A function that fails itself is as if it was not there. */
export function retryDelayMs(
  policy: RetryPolicy | BackoffFunction,
  attempt: number,
  random: () => number,
  error?: unknown,
): number {
  if (typeof policy === 'function') {
    return askedDelayMs(policy, attempt, error) ?? retryDelayMs(defaultRetryPolicy, attempt, random)
  }
  if (policy.strategy === 'none') return 0
  // Bounded, since an infinite growth of no pause at all is not a number.
  const growth = policy.strategy === 'exponential' ? Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER) : 1
  // A policy that was written by hand may have no end; the instant that it leads to must be one.
  const longestMs = Math.min(policy.maxMs, longestDurationMs)
  const delayMs = Math.min(policy.baseMs * growth, longestMs)
  return Math.round(Math.min(jittered(delayMs, policy.jitter, random), longestMs))
}

function askedDelayMs(ask: BackoffFunction, attempt: number, error: unknown): number | undefined {
  try {
    return Math.min(parseDuration(ask(attempt, error), 'backoff'), longestDurationMs)
  } catch {
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
