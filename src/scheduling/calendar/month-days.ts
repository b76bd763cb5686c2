import type { FieldItem } from './cron/field-values.ts'

/** Days of a month as bits: bit 0 is the 1st, bit 30 the 31st. */
export type DayBits = number

/** The days of a schedule in a month that starts on this weekday (0 is Sunday) and has this many days. */
export type MonthDays = (firstWeekday: number, length: number) => DayBits

export interface DayItems {
  readonly ofMonth: readonly FieldItem[]
  readonly ofWeek: readonly FieldItem[]
  /** Whether a day must match either field or both. */
  readonly fit: 'either' | 'both'
}

/** There are only 28 kinds of months, so each result is computed once. */
export function monthDays(items: DayItems): MonthDays {
  const known: (DayBits | undefined)[] = new Array(28).fill(undefined)
  return (firstWeekday, length) => {
    const kind = firstWeekday * 4 + length - 28
    const days = known[kind] ?? daysIn({ firstWeekday, length }, items)
    known[kind] = days
    return days
  }
}

interface Month {
  readonly firstWeekday: number
  readonly length: number
}

function daysIn(month: Month, { ofMonth, ofWeek, fit }: DayItems): DayBits {
  let bits = 0
  for (let day = 1; day <= month.length; day++) {
    const inMonth = ofMonth.some((item) => names(item, day, day, month))
    const inWeek = ofWeek.some((item) => names(item, weekdayOf(day, month), day, month))
    if (fit === 'both' ? inMonth && inWeek : inMonth || inWeek) bits |= 1 << (day - 1)
  }
  return bits
}

/** `value` is the day in terms of the item's field: the day of the month, or the weekday. */
function names(item: FieldItem, value: number, day: number, month: Month): boolean {
  switch (item.kind) {
    case 'values':
      return item.values.includes(value)
    case 'last day':
      return day === month.length
    case 'last working day':
      return day === nearestWorkingDay(month.length, month)
    case 'nearest working day':
      return item.day <= month.length && day === nearestWorkingDay(item.day, month)
    case 'last weekday':
      return item.weekday === value && day > month.length - 7
    case 'nth weekday':
      return item.weekday === value && Math.ceil(day / 7) === item.nth
  }
}

/** Stays within the month: at its start or end, the nearest working day may be two days away. */
function nearestWorkingDay(day: number, month: Month): number {
  const weekday = weekdayOf(day, month)
  if (weekday === saturday) return day > 1 ? day - 1 : day + 2
  if (weekday === sunday) return day < month.length ? day + 1 : day - 2
  return day
}

const sunday = 0
const saturday = 6

function weekdayOf(day: number, { firstWeekday }: Month): number {
  return (firstWeekday + day - 1) % 7
}
