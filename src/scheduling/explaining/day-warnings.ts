import type { CalendarFields } from '../calendar/calendar-fields.ts'
import { monthName, weekdayName } from './day-words.ts'
import { listed, ordinal } from './lists-in-words.ts'
import type { NamedTimes } from './named-times.ts'

export function dayWarnings(fields: CalendarFields, named: NamedTimes): string[] {
  return [...eitherDay(fields), ...shortMonths(fields, named), ...fifthWeekday(named)]
}

function eitherDay({ dayOfMonth, dayOfWeek, days }: CalendarFields): string[] {
  if (dayOfMonth === '*' || dayOfWeek === '*' || days === 'both') return []
  return [
    'Both a day of month and a day of week are given, and a day that fits either of them counts. For days that fit both use a schedule object; for one of the two leave the other open with *',
  ]
}

/** Only considers days listed one by one; a range or a step over the whole month means "as far as it goes". */
function shortMonths({ dayOfMonth }: CalendarFields, { months }: NamedTimes): string[] {
  const alone = dayOfMonth.split(',').filter((item) => /^\d+W?$/i.test(item))
  const day = Math.max(0, ...alone.map((item) => Number.parseInt(item, 10)))
  const without = months.values.filter((month) => day > (month === february ? 28 : lengthOf(month)))
  if (without.length === 0) return []
  const advice = 'For the end of a month use its last day: L in cron, lastDayOfMonth() in a definition'
  if (day === 29 && months.values.length === 1) return [`29 February comes in leap years only. ${advice}`]
  const have = months.values.length - without.length
  const but = day === 29 ? ', where it comes in leap years only' : ''
  const left = have === 0 ? 'it never comes' : `it comes in ${have} of ${months.values.length} months`
  return [`The ${ordinal(day)} is missing in ${listed(without, monthName)}${but}: ${left}. ${advice}`]
}

const february = 2

function lengthOf(month: number): number {
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function fifthWeekday({ days }: NamedTimes): string[] {
  const fifths = (days.ofWeek ?? []).flatMap((item) => (item.kind === 'nth weekday' && item.nth === 5 ? [item.weekday] : []))
  return fifths.map(
    (weekday) =>
      `Most months have no fifth ${weekdayName(weekday)} and are left out. For the last ${weekdayName(weekday)} of every month write ${weekday}L`,
  )
}
