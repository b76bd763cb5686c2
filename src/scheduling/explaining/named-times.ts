import type { CalendarFields, TimeWindow } from '../calendar/calendar-fields.ts'
import { fieldRanges } from '../calendar/cron/field-ranges.ts'
import { type FieldItem, parseField, parseValues } from '../calendar/cron/field-values.ts'

/** The values named by the fields of a schedule, as numbers, however they were written. */
export interface NamedTimes {
  readonly seconds: NamedValues
  readonly minutes: NamedValues
  readonly hours: NamedValues
  readonly days: NamedDays
  readonly months: NamedValues
  readonly years: NamedYears
  readonly windows: readonly TimeWindow[]
}

export interface NamedValues {
  /** Ascending and distinct. */
  readonly values: readonly number[]
  /** Written as a star that includes everything. */
  readonly isAll: boolean
}

export interface NamedYears extends NamedValues {
  /** Empty if all years count. */
  readonly values: readonly number[]
  /** Set if the years are those divisible by this number. */
  readonly divisor: number | null
}

/** Null if a field has no restriction. */
export interface NamedDays {
  readonly ofMonth: readonly FieldItem[] | null
  readonly ofWeek: readonly FieldItem[] | null
  readonly join: CalendarFields['days']
}

export function namedTimes(fields: CalendarFields): NamedTimes {
  const { dayOfMonth, dayOfWeek, year, days, steps, windows } = fields
  return {
    seconds: namedValues(fields, 'second'),
    minutes: namedValues(fields, 'minute'),
    hours: namedValues(fields, 'hour'),
    days: {
      ofMonth: dayOfMonth === '*' ? null : parseField('dayOfMonth', dayOfMonth, steps, whole),
      ofWeek: dayOfWeek === '*' ? null : parseField('dayOfWeek', dayOfWeek, steps, whole),
      join: days,
    },
    months: namedValues(fields, 'month'),
    years: year === '*' ? everyYear : namedYears(fields),
    windows,
  }
}

/** The plain values among a field's items. */
export function plainValues(items: readonly FieldItem[]): number[] {
  return rising(items.flatMap((item) => (item.kind === 'values' ? item.values : [])))
}

const whole = 'The schedule'

const everyYear: NamedYears = { values: [], isAll: true, divisor: null }

function namedYears(fields: CalendarFields): NamedYears {
  const [, divisor] = /^\*\/(\d+)$/.exec(fields.year) ?? []
  const isDivided = divisor !== undefined && fields.steps === 'divisible'
  return { ...namedValues(fields, 'year'), divisor: isDivided ? Number(divisor) : null }
}

function namedValues(fields: CalendarFields, name: 'second' | 'minute' | 'hour' | 'month' | 'year'): NamedValues {
  const values = rising(parseValues(name, fields[name], fields.steps, whole))
  const { lowest, highest } = fieldRanges[name]
  return { values, isAll: fields[name].includes('*') && values.length === highest - lowest + 1 }
}

function rising(values: readonly number[]): number[] {
  return [...new Set(values)].sort((one, other) => one - other)
}
