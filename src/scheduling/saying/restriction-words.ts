import { type DayOfWeek, fieldOf, type Month, type OneOrMore } from './calendar-values.ts'
import type { Restriction } from './composition.ts'
import type { Meanings } from './meanings.ts'
import { windowsBetween } from './written-times.ts'

/** Restrictions on a frequency. If both days of the month and days of the week are given, only days that match both count. */
export interface RestrictionWords {
  /** Only from Monday to Friday. */
  weekdays(): this
  /** Only on Saturday and Sunday. */
  weekends(): this
  /** Only on Sundays; combines with other days. */
  sundays(): this
  /** Only on Mondays; combines with other days. */
  mondays(): this
  /** Only on Tuesdays; combines with other days. */
  tuesdays(): this
  /** Only on Wednesdays; combines with other days. */
  wednesdays(): this
  /** Only on Thursdays; combines with other days. */
  thursdays(): this
  /** Only on Fridays; combines with other days. */
  fridays(): this
  /** Only on Saturdays; combines with other days. */
  saturdays(): this
  /** Only on these days of the week: names, or numbers from 0 to 7, where 0 and 7 are Sunday. */
  daysOfWeek(days: OneOrMore<DayOfWeek>): this
  /** Only on these days of the month, from 1 to 31. */
  daysOfMonth(days: OneOrMore<number>): this
  /** Alias of `daysOfMonth`. */
  days(days: OneOrMore<number>): this
  /** Only in these months: names, or numbers from 1 to 12. */
  months(months: OneOrMore<Month>): this
  /** At these hours, from 0 to 23: `daily().hours([9, 12])` runs at 09:00 and at 12:00. */
  hours(hours: OneOrMore<number>): this
  /** At these minutes, from 0 to 59: `hourly().minutes([0, 30])`. */
  minutes(minutes: OneOrMore<number>): this
  /** At these seconds, from 0 to 59: `everyMinute().seconds(30)`. */
  seconds(seconds: OneOrMore<number>): this
  /** Only between these times of day, both included; `('22:00', '06:00')` spans midnight. Several windows are combined. */
  between(from: string, to: string): this
  /** Not between these times of day, both included; `('22:00', '06:00')` spans midnight. */
  unlessBetween(from: string, to: string): this
}

export const restrictions: Meanings<RestrictionWords, Restriction> = {
  weekdays: () => ({ kind: 'only', fields: { dayOfWeek: '1-5' } }),
  weekends: () => ({ kind: 'only', fields: { dayOfWeek: '0,6' } }),
  sundays: () => ({ kind: 'weekday', day: 0 }),
  mondays: () => ({ kind: 'weekday', day: 1 }),
  tuesdays: () => ({ kind: 'weekday', day: 2 }),
  wednesdays: () => ({ kind: 'weekday', day: 3 }),
  thursdays: () => ({ kind: 'weekday', day: 4 }),
  fridays: () => ({ kind: 'weekday', day: 5 }),
  saturdays: () => ({ kind: 'weekday', day: 6 }),
  daysOfWeek: (method, days) => ({
    kind: 'at',
    fields: { dayOfWeek: fieldOf('dayOfWeek', days, method) },
  }),
  daysOfMonth: (method, days) => onDaysOfMonth(days, method),
  days: (method, days) => onDaysOfMonth(days, method),
  months: (method, months) => ({ kind: 'at', fields: { month: fieldOf('month', months, method) } }),
  hours: (method, hours) => ({ kind: 'at', fields: { hour: fieldOf('hour', hours, method) } }),
  minutes: (method, minutes) => ({ kind: 'at', fields: { minute: fieldOf('minute', minutes, method) } }),
  seconds: (method, seconds) => ({ kind: 'at', fields: { second: fieldOf('second', seconds, method) } }),
  between: (method, from, to) => ({ kind: 'within', windows: windowsBetween(from, to, method) }),
  unlessBetween: (method, from, to) => ({ kind: 'without', windows: windowsBetween(from, to, method) }),
}

function onDaysOfMonth(days: OneOrMore<number>, method: string): Restriction {
  return { kind: 'at', fields: { dayOfMonth: fieldOf('dayOfMonth', days, method) } }
}
