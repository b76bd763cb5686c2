import { unknownOptions } from '../../core/options.ts'
import { type RateLimit, type RateOptions, rateOf, rateOptionProblems, rateProblem } from './rate.ts'
import type { KeyOf } from './uniqueness.ts'

/** The limits of each group of a job. */
export interface GroupOptions {
  /** At most this many jobs of one group run at once, over all workers; 0 is unlimited. */
  readonly concurrency?: number
  /** At most this many jobs of one group are started within this time, over all workers. */
  readonly rate?: RateOptions
}

/** Whose job it is, and what the jobs of one group share. */
export interface Grouping {
  /** A dispatch may name another group, and a key may be null: then nobody's. */
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

/** Of what a user gave, before it is read. */
export function groupOptionProblems(options: unknown): readonly string[] {
  if (typeof options !== 'object' || options === null) return [`the options of group must be an object, got ${String(options)}`]
  const { rate } = options as GroupOptions
  return [
    ...unknownOptions(options, ['concurrency', 'rate']).map((problem) => `group: ${problem}`),
    ...(rate === undefined ? [] : rateOptionProblems(rate, 'group.rate')),
  ]
}

export function groupingProblems({ concurrency, rate }: Grouping): readonly (string | undefined)[] {
  const isSound = concurrency === null || (Number.isSafeInteger(concurrency) && concurrency >= 1)
  return [
    isSound ? undefined : `group.concurrency must be a whole number of at least 0, got ${String(concurrency)}`,
    rate === null ? undefined : rateProblem(rate, 'group.rate'),
  ]
}
