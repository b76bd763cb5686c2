import type { FieldItem } from '../calendar/cron/field-values.ts'
import { joined, listed, listItems, ordinal, type Run, singleRun } from './lists-in-words.ts'
import { type NamedTimes, type NamedValues, type NamedYears, plainValues } from './named-times.ts'

/**
 * The days in words, or an empty string if every day counts: "on the last day of the month", "from Monday to Friday in January".
 */
export function dayWords({ days, months }: NamedTimes): string {
  const ofMonth = days.ofMonth === null ? null : monthDaysOf(days.ofMonth)
  const ofWeek = days.ofWeek === null ? null : weekdaysOf(days.ofWeek)
  const isAnyOfMonth = ofMonth === null || ofMonth.values.length === 31
  const isAnyOfWeek = ofWeek === null || ofWeek.values.length === 7
  if (isAnyOfMonth && isAnyOfWeek) return inMonths(months)
  if (ofWeek === null || (isAnyOfWeek && days.join === 'both')) return onMonthDays(ofMonth!, months)
  if (ofMonth === null || (isAnyOfMonth && days.join === 'both')) return onWeekdays(ofWeek, months)
  if (isAnyOfMonth || isAnyOfWeek) return inMonths(months)
  return days.join === 'either' ? onEither(ofMonth, ofWeek, months) : onBoth(ofMonth, ofWeek, months)
}

export function yearWords({ values, isAll, divisor }: NamedYears): string {
  if (isAll) return ''
  if (divisor !== null) return `in years divisible by ${divisor}`
  const run = singleRun(values)
  return run === null ? `in ${listed(values)}` : fromTo(run, String)
}

interface MonthDays {
  readonly values: readonly number[]
  /** Days without a number: "last day". */
  readonly special: readonly string[]
  /** Whether they make sense only together with the month, such as its last day. */
  readonly isOfMonth: boolean
}

interface Weekdays {
  /** Monday is 1 and Sunday is 7, so that the weekend is contiguous. */
  readonly values: readonly number[]
  /** "the second Monday" */
  readonly ofMonth: readonly string[]
}

function monthDaysOf(items: readonly FieldItem[]): MonthDays {
  const isOfMonth = items.some(({ kind }) => kind === 'last day' || kind === 'last working day')
  return { values: plainValues(items), special: [...new Set(items.flatMap(specialDay))], isOfMonth }
}

function specialDay(item: FieldItem): string[] {
  switch (item.kind) {
    case 'nearest working day':
      return [`weekday nearest to the ${ordinal(item.day)}`]
    case 'last working day':
      return ['last weekday']
    case 'last day':
      return ['last day']
    default:
      return []
  }
}

function weekdaysOf(items: readonly FieldItem[]): Weekdays {
  const values = plainValues(items).map((weekday) => (weekday === 0 ? 7 : weekday))
  return { values: values.sort((one, other) => one - other), ofMonth: [...new Set(items.flatMap(weekdayOfMonth))] }
}

function weekdayOfMonth(item: FieldItem): string[] {
  if (item.kind === 'last weekday') return [`the last ${weekdayName(item.weekday)}`]
  return item.kind === 'nth weekday' ? [`the ${places[item.nth - 1]} ${weekdayName(item.weekday)}`] : []
}

const places = ['first', 'second', 'third', 'fourth', 'fifth']

function inMonths(months: NamedValues): string {
  if (months.isAll) return ''
  const run = singleRun(months.values)
  return run === null ? `in ${listed(months.values, monthName)}` : `in the months ${fromTo(run, monthName)}`
}

function onMonthDays(days: MonthDays, months: NamedValues): string {
  return monthDayText(days) + ofMonths(months, days.isOfMonth)
}

function onWeekdays({ values, ofMonth }: Weekdays, months: NamedValues): string {
  if (ofMonth.length > 0) {
    return `on ${joined([...listItems(values, weekdayName), ...ofMonth], 'and')}${ofMonths(months, true)}`
  }
  const run = singleRun(values)
  const text = run === null ? `on ${listed(values, weekdayName)}` : fromTo(run, weekdayName)
  return months.isAll ? text : `${text} ${inMonths(months)}`
}

function onEither(days: MonthDays, weekdays: Weekdays, months: NamedValues): string {
  const onMonth = monthDayText(days) + (days.isOfMonth ? ' of the month' : '')
  const text = joined([onMonth, ...everyWeekday(weekdays)], 'and')
  return months.isAll ? text : `${text}, all ${inMonths(months)}`
}

function everyWeekday({ values, ofMonth }: Weekdays): string[] {
  const run = singleRun(values)
  const every = run === null ? `on every ${listed(values, weekdayName)}` : `on every day ${fromTo(run, weekdayName)}`
  return [...(values.length === 0 ? [] : [every]), ...(ofMonth.length === 0 ? [] : [`on ${joined(ofMonth, 'and')} of the month`])]
}

function onBoth(days: MonthDays, weekdays: Weekdays, months: NamedValues): string {
  const isOneDay = days.values.length === 1 && days.special.length === 0
  const isOneWeekday = weekdays.values.length === 1 && weekdays.ofMonth.length === 0
  if (isOneDay && isOneWeekday) {
    return `on ${weekdayName(weekdays.values[0]!)} the ${ordinal(days.values[0]!)}${ofMonths(months, false)}`
  }
  return `${onMonthDays(days, months)} if it is ${joined(weekdayKinds(weekdays), 'or')}`
}

function weekdayKinds({ values, ofMonth }: Weekdays): string[] {
  const run = singleRun(values)
  const plain = run === null ? values.map((value) => `a ${weekdayName(value)}`) : [`a day ${fromTo(run, weekdayName)}`]
  return [...plain, ...ofMonth.map((one) => `${one} of the month`)]
}

function monthDayText({ values, special }: MonthDays): string {
  const run = singleRun(values)
  if (run !== null && special.length === 0) return fromTo(run, (day) => `the ${ordinal(day)}`)
  return `on the ${joined([...listItems(values, ordinal), ...special], 'and')}`
}

function ofMonths(months: NamedValues, isOfMonth: boolean): string {
  if (months.isAll) return isOfMonth ? ' of the month' : ''
  const run = singleRun(months.values)
  return run === null ? ` of ${listed(months.values, monthName)}` : ` of every month ${fromTo(run, monthName)}`
}

function fromTo({ first, last }: Run, nameOf: (value: number) => string): string {
  return `from ${nameOf(first)} to ${nameOf(last)}`
}

const weekdayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** Sunday is both 0 and 7. */
export function weekdayName(weekday: number): string {
  return weekdayNames[weekday % 7]!
}

const monthNames = 'January February March April May June July August September October November December'.split(' ')

export function monthName(month: number): string {
  return monthNames[month - 1]!
}
