import { TreadleError } from '../core/errors.ts'
import type { CronFields } from './cron-fields.ts'

/** Fields that narrow down a frequency. */
export type Restriction = Partial<CronFields>

export const weekdays: Restriction = { dayOfWeek: '1-5' }
export const weekends: Restriction = { dayOfWeek: '0,6' }

/** A part of a schedule and the method that said it, for the errors. */
export interface Said<Fields> {
  readonly method: string
  readonly fields: Fields
}

/** The fields of a frequency under its restrictions, in whatever order they were said; throws where they make no sense together. */
export function restrict(frequencies: readonly Said<CronFields>[], restrictions: readonly Said<Restriction>[]): CronFields {
  const [frequency, ...others] = frequencies
  if (frequency === undefined)
    throw meaningless(`${methodsOf(restrictions)} only narrows down a frequency: add one, such as daily()`)
  if (others.length > 0) throw meaningless(`${methodsOf(frequencies)} were all called: a job has one frequency, keep one of them`)
  let fields = frequency.fields
  for (const [index, restriction] of restrictions.entries()) {
    const rival = restrictions.slice(0, index).find((earlier) => contradicts(earlier.fields, restriction.fields))
    if (rival !== undefined)
      throw meaningless(`${rival.method} and ${restriction.method} contradict each other: keep one of them`)
    refuseSecondDay(frequency, restriction)
    fields = { ...fields, ...restriction.fields }
  }
  return fields
}

function contradicts(one: Restriction, other: Restriction): boolean {
  return (Object.keys(one) as (keyof Restriction)[]).some((name) => other[name] !== undefined && other[name] !== one[name])
}

/** Cron joins day of month and day of week by "or": weekdays would add days to a monthly job where they look like leaving some out. */
function refuseSecondDay(frequency: Said<CronFields>, restriction: Said<Restriction>): void {
  if (restriction.fields.dayOfWeek === undefined) return
  const { dayOfMonth, dayOfWeek } = frequency.fields
  if (dayOfMonth === '*' && dayOfWeek === '*') return
  throw meaningless(
    `${frequency.method} already says on which days the job runs, so ${restriction.method} can not narrow it down: leave one of them out`,
  )
}

function methodsOf(parts: readonly Said<unknown>[]): string {
  return [...new Set(parts.map(({ method }) => method))].join(' and ')
}

function meaningless(why: string): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', `The schedule has no meaning: ${why}`)
}
