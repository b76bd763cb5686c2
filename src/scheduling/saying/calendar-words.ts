import { TreadleError } from '../../core/errors.ts'
import { parseCron } from '../calendar/cron.ts'
import type { DayOfWeek, Month, OneOrMore } from './calendar-values.ts'
import * as frequencies from './frequencies.ts'
import type { Meanings } from './meanings.ts'
import { type CalendarObject, objectFrequency } from './object-schedule.ts'
import { type ScheduleSymbol, symbolObject } from './symbols.ts'

/** The frequencies of a day and more, and those that are said as a whole. */
export interface CalendarWords {
  /** Five fields (minute first, at second 0) or six (second first). A day that fits either of the two day fields counts. */
  cron(expression: string, ...others: readonly never[]): this
  /**
   * An object such as `{ minutes: '0,30', hours: '9-17', wday: '1-5' }`, all of whose keys must fit, or a symbol that stands
   * for one, such as `'EVERY_DAY'`.
   */
  schedule(times: CalendarObject | ScheduleSymbol): this
  /** At midnight. */
  daily(): this
  /** At a time such as `'02:30'` or `'02:30:15'`. */
  dailyAt(time: string): this
  /** At two full hours, 01:00 and 13:00 unless others are given. */
  twiceDaily(first?: number, second?: number): this
  /** At this minute of two hours. */
  twiceDailyAt(first: number, second: number, minute: number): this
  /** At midnight of Sunday, where Sunday begins; `weekly().mondays()` is on Monday. */
  weekly(): this
  /** On a day of the week, or on several, at midnight or at a time. */
  weeklyOn(days: OneOrMore<DayOfWeek>, time?: string): this
  /** On the first of the month at midnight. */
  monthly(): this
  /** On a day of the month, or on several, at midnight or at a time. A month that does not have the day is left out. */
  monthlyOn(days: OneOrMore<number>, time?: string): this
  /** On two days of the month, the 1st and the 16th unless others are given, at midnight or at a time. */
  twiceMonthly(first?: number, second?: number, time?: string): this
  /** On the last day of the month, at midnight, where that day begins, or at a time. */
  lastDayOfMonth(time?: string): this
  /** On the first of January, April, July and October at midnight. */
  quarterly(): this
  /** On a day of January, April, July and October, or on several, at midnight or at a time. */
  quarterlyOn(days: OneOrMore<number>, time?: string): this
  /** On the first of January at midnight. */
  yearly(): this
  /** On a day of a month, at midnight or at a time. */
  yearlyOn(month: Month, day: number, time?: string): this
}

export const calendarFrequencies: Meanings<CalendarWords, frequencies.FrequencyFields> = {
  cron: (_method, expression, ...others) => {
    refuseOthers(others)
    return { named: parseCron(expression, 'UTC').fields, implied: {} }
  },
  schedule: (_method, times) => objectFrequency(typeof times === 'string' ? symbolObject(times) : times),
  daily: () => frequencies.daily,
  dailyAt: (method, time) => frequencies.dailyAt(time, method),
  twiceDaily: (method, first = 1, second = 13) => frequencies.twiceDaily([first, second], method),
  twiceDailyAt: (method, first, second, minute) => frequencies.twiceDailyAt([first, second], minute, method),
  weekly: () => frequencies.weekly,
  weeklyOn: (method, days, time) => frequencies.weeklyOn(days, time, method),
  monthly: () => frequencies.monthly,
  monthlyOn: (method, days, time) => frequencies.monthlyOn(days, time, method),
  twiceMonthly: (method, first = 1, second = 16, time) => frequencies.twiceMonthly([first, second], time, method),
  lastDayOfMonth: (method, time) => frequencies.lastDayOfMonth(time, method),
  quarterly: () => frequencies.quarterly,
  quarterlyOn: (method, days, time) => frequencies.quarterlyOn(days, time, method),
  yearly: () => frequencies.yearly,
  yearlyOn: (method, month, day, time) => frequencies.yearlyOn(month, day, time, method),
}

/** Elsewhere a zone may stand there: one that nobody reads would be a job at the wrong time. */
function refuseOthers(others: readonly unknown[]): void {
  if (others.length === 0) return
  throw new TreadleError(
    'SCHEDULE_INVALID',
    "cron() takes an expression and nothing else; the zone is said by timezone('Europe/Paris')",
  )
}
