import { type DayOfWeek, fieldOf, type Month, type OneOrMore } from './calendar-values.ts'
import type { Restriction } from './composition.ts'
import type { Meanings } from './meanings.ts'
import { windowsBetween } from './written-times.ts'

/** The words that say more about a frequency. Where days of the month and of the week are both said, only days that fit both count. */
export interface RestrictionWords {
  /** Only from Monday to Friday. */
  weekdays(): this
  /** Only on Saturday and Sunday. */
  weekends(): this
  /** Only on Sundays; with other days, on each of them. */
  sundays(): this
  /** Only on Mondays; with other days, on each of them. */
  mondays(): this
  /** Only on Tuesdays; with other days, on each of them. */
  tuesdays(): this
  /** Only on Wednesdays; with other days, on each of them. */
  wednesdays(): this
  /** Only on Thursdays; with other days, on each of them. */
  thursdays(): this
  /** Only on Fridays; with other days, on each of them. */
  fridays(): this
  /** Only on Saturdays; with other days, on each of them. */
  saturdays(): this
  /** Only on these days of the week: names, or numbers from 0 to 7, where 0 and 7 are Sunday. */
  daysOfWeek(days: OneOrMore<DayOfWeek>): this
  /** Only on these days of the month, from 1 to 31. */
  daysOfMonth(days: OneOrMore<number>): this
  /** Only on these days of the month: another word for `daysOfMonth`. */
  days(days: OneOrMore<number>): this
  /** Only in these months: names, or numbers from 1 to 12. */
  months(months: OneOrMore<Month>): this
  /** At these hours, from 0 to 23: `daily().hours([9, 12])` runs at 09:00 and at 12:00. */
  hours(hours: OneOrMore<number>): this
  /** At these minutes, from 0 to 59: `hourly().minutes([0, 30])`. */
  minutes(minutes: OneOrMore<number>): this
  /** At these seconds, from 0 to 59: `everyMinute().seconds(30)`. */
  seconds(seconds: OneOrMore<number>): this
  /** Only from one time of day to another, both included; `('22:00', '06:00')` goes over midnight. Several add up. */
  between(from: string, to: string): this
  /** Not from one time of day to another, both included; `('22:00', '06:00')` goes over midnight. */
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
