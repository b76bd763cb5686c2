import { TreadleError } from '../../core/errors.ts'
import { parseCron } from '../calendar/cron/cron.ts'
import type { DayOfWeek, Month, OneOrMore } from './calendar-values.ts'
import * as frequencies from './frequencies.ts'
import type { Meanings } from './meanings.ts'
import { type CalendarObject, objectFrequency } from './object-schedule.ts'
import { type ScheduleSymbol, symbolObject } from './symbols.ts'

/** Schedules of a day or longer, and complete schedules. */
export interface CalendarWords {
  /**
   * A cron expression with five fields (minute first, at second 0) or six (second first). If both day fields are given, a day
   * that matches either counts.
   */
  cron(expression: string, ...others: readonly never[]): this
  /**
   * An object such as `{ minutes: '0,30', hours: '9-17', wday: '1-5' }`, all of whose keys must match, or the name of one, such
   * as `'EVERY_DAY'`.
   */
  schedule(times: CalendarObject | ScheduleSymbol): this
  /** Every day at midnight. */
  daily(): this
  /** Every day at a time such as `'02:30'` or `'02:30:15'`. */
  dailyAt(time: string): this
  /** Every day at two full hours; 01:00 and 13:00 by default. */
  twiceDaily(first?: number, second?: number): this
  /** Every day at this minute of two hours. */
  twiceDailyAt(first: number, second: number, minute: number): this
  /** Every Sunday at 00:00; `weekly().mondays()` runs on Mondays instead. */
  weekly(): this
  /** Every week on one or more days of the week, at midnight or at the given time. */
  weeklyOn(days: OneOrMore<DayOfWeek>, time?: string): this
  /** On the first of every month at midnight. */
  monthly(): this
  /** On one or more days of every month, at midnight or at the given time. Months without that day are skipped. */
  monthlyOn(days: OneOrMore<number>, time?: string): this
  /** On two days of every month (the 1st and the 16th by default), at midnight or at the given time. */
  twiceMonthly(first?: number, second?: number, time?: string): this
  /** On the last day of every month, at the midnight that starts it or at the given time. */
  lastDayOfMonth(time?: string): this
  /** On the first of January, April, July and October at midnight. */
  quarterly(): this
  /** On one or more days of January, April, July and October, at midnight or at the given time. */
  quarterlyOn(days: OneOrMore<number>, time?: string): this
  /** On the first of January at midnight. */
  yearly(): this
  /** Every year on this date, at midnight or at the given time. */
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

/** Other libraries accept a time zone here. Silently ignoring it would run the job at the wrong time. */
function refuseOthers(others: readonly unknown[]): void {
  if (others.length === 0) return
  throw new TreadleError(
    'SCHEDULE_INVALID',
    "cron() takes an expression and nothing else; the zone is set by timezone('Europe/Paris')",
  )
}
