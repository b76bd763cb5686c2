import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type RateLimit, type RateOptions, rateOf, rateOptionProblems, rateProblem } from './rate.ts'
import type { KeyOf } from './uniqueness.ts'

/** Limits that apply to each group of a job. */
export interface GroupOptions {
  /** Maximum number of jobs of one group that run at once, across all workers; 0 is unlimited. */
  readonly concurrency?: number
  /** Maximum number of jobs of one group that start within a period of time, across all workers. */
  readonly rate?: RateOptions
}

/** How jobs are grouped, and the limits that each group shares. */
export interface Grouping {
  /** Computes the group from the payload; null means no group. A dispatch may name another group. */
  readonly key: KeyOf
  readonly concurrency: number | null
  readonly rate: RateLimit | null
}

export function grouping(key: KeyOf, { concurrency = 0, rate }: GroupOptions): Grouping {
  return Object.freeze({
    key,
    concurrency: concurrency === 0 ? null : concurrency,
    rate: rate === undefined ? null : rateOf(rate, 'group.rate'),
  })
}

/** Checks the shape of the given options before they are parsed. */
export function groupOptionProblems(options: unknown): readonly string[] {
  if (typeof options !== 'object' || options === null) return [`the options of group must be an object, got ${shown(options)}`]
  const { rate } = options as GroupOptions
  return [
    ...unknownOptions(options, ['concurrency', 'rate']).map((problem) => `group: ${problem}`),
    ...(rate === undefined ? [] : rateOptionProblems(rate, 'group.rate')),
  ]
}

export function groupingProblems({ concurrency, rate }: Grouping): readonly (string | undefined)[] {
  const isSound = concurrency === null || (Number.isSafeInteger(concurrency) && concurrency >= 1)
  return [
    isSound ? undefined : `group.concurrency must be a whole number of at least 0, got ${shown(concurrency)}`,
    rate === null ? undefined : rateProblem(rate, 'group.rate'),
  ]
}
