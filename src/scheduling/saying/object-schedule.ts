import { TreadleError } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import type { FieldName } from '../calendar/cron/field-ranges.ts'
import { parseField } from '../calendar/cron/field-values.ts'
import type { FrequencyFields } from './frequencies.ts'

/**
 * A value, or a string of values: `5`, `'*'`, `'9-17'`, `'9-17/2'`, `'1,3-5'`. A star with a step means the values divisible by
 * the step. A list is the same as a comma-separated string.
 */
export type CalendarPattern = number | string | readonly (number | string)[]

/**
 * When to run, given as parts of a date that must all match. A part that is left out matches anything, except that the second
 * defaults to 0.
 */
export interface CalendarObject {
  readonly seconds?: CalendarPattern
  readonly minutes?: CalendarPattern
  readonly hours?: CalendarPattern
  /** The day of the month: alias of `mday`. */
  readonly day?: CalendarPattern
  /** The day of the month. */
  readonly mday?: CalendarPattern
  /** The day of the week: 0 and 7 are Sunday. */
  readonly wday?: CalendarPattern
  readonly mon?: CalendarPattern
  readonly year?: CalendarPattern
}

export function objectFrequency(object: CalendarObject): FrequencyFields {
  const entries = entriesOf(object)
  const problems = [...unknownOptions(object, Object.keys(fieldsOfKeys)), ...sayTooMuchOrLittle(object, entries)]
  if (problems.length > 0) throw invalid(problems.join('; '))
  const named = Object.fromEntries(entries.map(([key, pattern]) => [fieldsOfKeys[key], fieldText(key, pattern)]))
  return { named: { ...named, days: 'both', steps: 'divisible' }, implied: { second: '0' } }
}

const fieldsOfKeys: { readonly [Key in keyof Required<CalendarObject>]: FieldName } = {
  seconds: 'second',
  minutes: 'minute',
  hours: 'hour',
  day: 'dayOfMonth',
  mday: 'dayOfMonth',
  wday: 'dayOfWeek',
  mon: 'month',
  year: 'year',
}

type Entry = readonly [key: keyof CalendarObject, pattern: CalendarPattern]

function entriesOf(object: CalendarObject): readonly Entry[] {
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw invalid(`it takes an object such as { minutes: 30, hours: '9-17' } or the name of a symbol, got ${shown(object)}`)
  return Object.entries(object).filter(([, pattern]) => pattern !== undefined) as [keyof CalendarObject, CalendarPattern][]
}

function sayTooMuchOrLittle({ day, mday }: CalendarObject, entries: readonly Entry[]): readonly string[] {
  const problems: string[] = []
  if (entries.length === 0) problems.push(`the object is empty: give it at least one of ${Object.keys(fieldsOfKeys).join(', ')}`)
  if (day !== undefined && mday !== undefined)
    problems.push('day and mday are two words for the day of the month: keep one of them')
  return problems
}

function fieldText(key: keyof CalendarObject, pattern: CalendarPattern): string {
  const text = [pattern]
    .flat()
    .join(',')
    .replaceAll(/\s*([,/-])\s*/g, '$1')
    .trim()
  parseField(fieldsOfKeys[key], text, 'divisible', `schedule({ ${key} })`)
  return text
}

function invalid(why: string): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', `schedule(): ${why}`)
}
