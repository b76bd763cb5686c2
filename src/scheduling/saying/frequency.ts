import { TreadleError } from '../../core/errors.ts'
import { parseCron } from '../calendar/cron.ts'
import type { DayOfWeek, Month, OneOrMore } from './calendar-values.ts'
import * as frequencies from './frequencies.ts'
import { Intervals } from './intervals.ts'
import { type CalendarObject, objectFrequency } from './object-schedule.ts'
import { type ScheduleSymbol, symbolObject } from './symbols.ts'

/**
 * When a job runs, in words that can follow each other in any order: `dailyAt('02:30').timezone('Europe/Paris').weekdays()`.
 * A wrong argument throws at the call; words that make no sense together throw when the schedule is asked for.
 */
export abstract class Frequency extends Intervals {
  /** Five fields (minute first, at second 0) or six (second first). A day that fits either of the two day fields counts. */
  cron(expression: string, ...others: readonly never[]): this {
    return this.frequency('cron', () => {
      refuseOthers(others)
      return { named: parseCron(expression, 'UTC').fields, implied: {} }
    })
  }

  /**
   * An object such as `{ minutes: '0,30', hours: '9-17', wday: '1-5' }`, all of whose keys must fit, or a symbol that stands
   * for one, such as `'EVERY_DAY'`.
   */
  schedule(times: CalendarObject | ScheduleSymbol): this {
    return this.frequency('schedule', () => objectFrequency(typeof times === 'string' ? symbolObject(times) : times))
  }

  /** At midnight. */
  daily(): this {
    return this.frequency('daily', () => frequencies.daily)
  }

  /** At a time such as `'02:30'` or `'02:30:15'`. */
  dailyAt(time: string): this {
    return this.frequency('dailyAt', (method) => frequencies.dailyAt(time, method))
  }

  /** At two full hours, 01:00 and 13:00 unless others are given. */
  twiceDaily(first = 1, second = 13): this {
    return this.frequency('twiceDaily', (method) => frequencies.twiceDaily([first, second], method))
  }

  /** At this minute of two hours. */
  twiceDailyAt(first: number, second: number, minute: number): this {
    return this.frequency('twiceDailyAt', (method) => frequencies.twiceDailyAt([first, second], minute, method))
  }

  /** At midnight of Sunday, where Sunday begins; `weekly().mondays()` is on Monday. */
  weekly(): this {
    return this.frequency('weekly', () => frequencies.weekly)
  }

  /** On a day of the week, or on several, at midnight or at a time. */
  weeklyOn(days: OneOrMore<DayOfWeek>, time?: string): this {
    return this.frequency('weeklyOn', (method) => frequencies.weeklyOn(days, time, method))
  }

  /** On the first of the month at midnight. */
  monthly(): this {
    return this.frequency('monthly', () => frequencies.monthly)
  }

  /** On a day of the month, or on several, at midnight or at a time. A month that does not have the day is left out. */
  monthlyOn(days: OneOrMore<number>, time?: string): this {
    return this.frequency('monthlyOn', (method) => frequencies.monthlyOn(days, time, method))
  }

  /** On two days of the month, the 1st and the 16th unless others are given, at midnight or at a time. */
  twiceMonthly(first = 1, second = 16, time?: string): this {
    return this.frequency('twiceMonthly', (method) => frequencies.twiceMonthly([first, second], time, method))
  }

  /** On the last day of the month, at midnight, where that day begins, or at a time. */
  lastDayOfMonth(time?: string): this {
    return this.frequency('lastDayOfMonth', (method) => frequencies.lastDayOfMonth(time, method))
  }

  /** On the first of January, April, July and October at midnight. */
  quarterly(): this {
    return this.frequency('quarterly', () => frequencies.quarterly)
  }

  /** On a day of January, April, July and October, or on several, at midnight or at a time. */
  quarterlyOn(days: OneOrMore<number>, time?: string): this {
    return this.frequency('quarterlyOn', (method) => frequencies.quarterlyOn(days, time, method))
  }

  /** On the first of January at midnight. */
  yearly(): this {
    return this.frequency('yearly', () => frequencies.yearly)
  }

  /** On a day of a month, at midnight or at a time. */
  yearlyOn(month: Month, day: number, time?: string): this {
    return this.frequency('yearlyOn', (method) => frequencies.yearlyOn(month, day, time, method))
  }
}

/** Elsewhere a zone may stand there: one that nobody reads would be a job at the wrong time. */
function refuseOthers(others: readonly unknown[]): void {
  if (others.length === 0) return
  throw new TreadleError(
    'SCHEDULE_INVALID',
    "cron() takes an expression and nothing else; the zone is said by timezone('Europe/Paris')",
  )
}
