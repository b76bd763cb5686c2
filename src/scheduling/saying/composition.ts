import { TreadleError } from '../../core/errors.ts'
import type { CalendarFields, CronFields, TimeWindow } from '../calendar/calendar-fields.ts'
import { fieldRanges } from '../calendar/cron/field-ranges.ts'
import type { FrequencyFields } from './frequencies.ts'
import { windowsLeft } from './written-times.ts'

/** A restriction added to a frequency. */
export type Restriction =
  /** Replaces what the frequency implies: `daily().hours([9, 12])`. */
  | { readonly kind: 'at'; readonly fields: Partial<CronFields> }
  /** Narrows what the frequency leaves open. */
  | { readonly kind: 'only'; readonly fields: Partial<CronFields> }
  /** A day of the week; several are combined: `mondays().fridays()`. */
  | { readonly kind: 'weekday'; readonly day: number }
  /** Times of day; several are combined. */
  | { readonly kind: 'within'; readonly windows: readonly TimeWindow[] }
  | { readonly kind: 'without'; readonly windows: readonly TimeWindow[] }

/** A part of a schedule and the method that added it, for error messages. */
export interface Said<Part> {
  readonly method: string
  readonly part: Part
}

/** Combines a frequency with its restrictions, in any order. Throws if they make no sense together. */
export function compose(
  frequencies: readonly Said<FrequencyFields>[],
  restrictions: readonly Said<Restriction>[],
): CalendarFields {
  const frequency = onlyFrequency(frequencies, restrictions)
  const narrowings = narrowingsOf(restrictions)
  for (const [index, narrowing] of narrowings.entries()) {
    refuseContradiction(narrowings.slice(0, index), narrowing)
    refuseChosen(frequency, narrowing)
  }
  const narrowed: Partial<CronFields> = Object.assign({}, ...narrowings.map(({ part }) => part.fields))
  const { implied, named } = frequency.part
  const days = namesDay(narrowed) ? { days: 'both' as const } : {}
  return { ...anyTime, ...implied, ...named, ...narrowed, ...days, windows: windowsOf(restrictions) }
}

export function methodsOf(parts: readonly Said<unknown>[]): string {
  return [...new Set(parts.map(({ method }) => method))].join(' and ')
}

export function meaningless(why: string, options?: ErrorOptions): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', `The schedule is invalid: ${why}`, options)
}

const anyTime: CalendarFields = {
  second: '*',
  minute: '*',
  hour: '*',
  dayOfMonth: '*',
  month: '*',
  dayOfWeek: '*',
  year: '*',
  days: 'both',
  steps: 'counted',
  windows: [],
}

function onlyFrequency(
  frequencies: readonly Said<FrequencyFields>[],
  restrictions: readonly Said<Restriction>[],
): Said<FrequencyFields> {
  const [frequency, ...others] = frequencies
  if (frequency === undefined)
    throw meaningless(`${methodsOf(restrictions)} only narrows down a frequency: add one, such as daily()`)
  if (others.length > 0) throw meaningless(`${methodsOf(frequencies)} were called: a job has one frequency, keep one of them`)
  return frequency
}

type Narrowing = Said<Extract<Restriction, { fields: unknown }>>

/** The restrictions on fields, with the days of the week merged into one. */
function narrowingsOf(restrictions: readonly Said<Restriction>[]): readonly Narrowing[] {
  const narrowings: Narrowing[] = []
  const weekdays: Said<number>[] = []
  for (const { method, part } of restrictions) {
    if (part.kind === 'weekday') weekdays.push({ method, part: part.day })
    else if ('fields' in part) narrowings.push({ method, part })
  }
  if (weekdays.length === 0) return narrowings
  const dayOfWeek = [...new Set(weekdays.map(({ part }) => part))].sort().join(',')
  return [...narrowings, { method: methodsOf(weekdays), part: { kind: 'at', fields: { dayOfWeek } } }]
}

function refuseContradiction(earlier: readonly Narrowing[], { method, part }: Narrowing): void {
  const contradicts = ({ part: { fields } }: Narrowing) =>
    namesIn(part.fields).some((name) => fields[name] !== undefined && fields[name] !== part.fields[name])
  const rival = earlier.find(contradicts)
  if (rival === undefined) return
  if (rival.method === method) throw meaningless(`${method} was called twice with different values: call it once, with a list`)
  throw meaningless(`${rival.method} and ${method} contradict each other: keep one of them`)
}

function refuseChosen({ method, part: { named, implied } }: Said<FrequencyFields>, narrowing: Narrowing): void {
  const isNamed = (name: keyof CronFields) => (named[name] ?? '*') !== '*'
  // No expression can exclude days from a union of days.
  if (named.days === 'either' && isNamed('dayOfMonth') && isNamed('dayOfWeek') && namesDay(narrowing.part.fields))
    throw meaningless(
      `${method} names days of the month and days of the week and runs on days that fit either, so ${narrowing.method} cannot narrow it down: leave one of the three out`,
    )
  const isTaken = (name: keyof CronFields) => isNamed(name) || (narrowing.part.kind === 'only' && name in implied)
  const taken = namesIn(narrowing.part.fields).find(isTaken)
  if (taken === undefined) return
  throw meaningless(
    `${method} already says the ${fieldRanges[taken].label}, so ${narrowing.method} cannot narrow it down: leave one of them out`,
  )
}

function windowsOf(restrictions: readonly Said<Restriction>[]): readonly TimeWindow[] {
  const said = restrictions.filter(({ part }) => 'windows' in part)
  if (said.length === 0) return []
  const of = (kind: Restriction['kind']) =>
    said.flatMap(({ part }) => (part.kind === kind && 'windows' in part ? part.windows : []))
  const windows = windowsLeft(of('within'), of('without'))
  if (windows.length === 0) throw meaningless(`${methodsOf(said)} leave no time of the day: correct one of them`)
  return windows
}

function namesDay({ dayOfMonth, dayOfWeek }: Partial<CronFields>): boolean {
  return dayOfMonth !== undefined || dayOfWeek !== undefined
}

function namesIn(fields: Partial<CronFields>): readonly (keyof CronFields)[] {
  return Object.keys(fields) as (keyof CronFields)[]
}
