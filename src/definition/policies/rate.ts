import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'

/** A rate limit: how many jobs may start within a period of time. */
export interface RateOptions {
  readonly limit: number
  /** The length of the sliding window. */
  readonly per: Duration
}

/** At most `limit` starts in any window of this length. */
export interface RateLimit {
  readonly limit: number
  readonly perMs: number
}

const longestMs = 366 * 86_400_000

export function rateOf({ limit, per }: RateOptions, what: string): RateLimit {
  return Object.freeze({ limit, perMs: parseDuration(per, `the time of ${what}`) })
}

/** Checks the shape of the given options before they are parsed. */
export function rateOptionProblems(options: unknown, what: string): readonly string[] {
  if (typeof options !== 'object' || options === null) {
    return [`${what} must be an object such as { limit: 100, per: '1m' }, got ${shown(options)}`]
  }
  return unknownOptions(options, ['limit', 'per']).map((problem) => `${what}: ${problem}`)
}

export function rateProblem({ limit, perMs }: RateLimit, what: string): string | undefined {
  if (!Number.isSafeInteger(limit) || limit < 1)
    return `the limit of ${what} must be a whole number of at least 1, got ${shown(limit)}`
  return perMs >= 1 && perMs <= longestMs ? undefined : `the time of ${what} must be from 1ms to 366d, got ${perMs} ms`
}
