import { type CalendarDays, calendarDays } from './calendar-days.ts'
import type { CalendarFields } from './calendar-fields.ts'
import { parseField, parseValues } from './cron/field-values.ts'
import { everyValue, valueTable } from './cron/value-table.ts'
import { monthDays } from './month-days.ts'
import { type TimesOfDay, timesOfDay } from './time-of-day.ts'

/**
 * The times of a schedule on a wall clock without a time zone, in milliseconds as if the clock showed UTC. Null if there is none.
 */
export interface WallTimes {
  /** The first time after the given one. */
  next(afterMs: number): number | null
  /** The last time before the given one. */
  previous(beforeMs: number): number | null
}

/** `whole` describes, in errors, what the fields belong to. */
export function wallTimes(fields: CalendarFields, whole: string): WallTimes {
  const days = daysOf(fields, whole)
  const times = timesOf(fields, whole)
  return { next: (afterMs) => nextTime(days, times, afterMs), previous: (beforeMs) => previousTime(days, times, beforeMs) }
}

function daysOf({ year, month, dayOfMonth, dayOfWeek, days, steps }: CalendarFields, whole: string): CalendarDays {
  const years = year === '*' ? everyValue : valueTable(parseValues('year', year, steps, whole))
  const ofMonth = parseField('dayOfMonth', dayOfMonth, steps, whole)
  const ofWeek = parseField('dayOfWeek', dayOfWeek, steps, whole)
  // A star matches every day, so with 'either' the other field would have no effect.
  const fit = dayOfMonth === '*' || dayOfWeek === '*' ? 'both' : days
  return calendarDays(years, parseValues('month', month, steps, whole), monthDays({ ofMonth, ofWeek, fit }))
}

function timesOf({ hour, minute, second, steps, windows }: CalendarFields, whole: string): TimesOfDay {
  const hours = parseValues('hour', hour, steps, whole)
  const minutes = parseValues('minute', minute, steps, whole)
  const seconds = parseValues('second', second, steps, whole)
  return timesOfDay({ hours, minutes, seconds }, windows)
}

const daySeconds = 86_400

function nextTime(days: CalendarDays, times: TimesOfDay, afterMs: number): number | null {
  const second = Math.floor(afterMs / 1_000) + 1
  const today = Math.floor(second / daySeconds)
  const timeToday = times.atOrAfter(second - today * daySeconds)
  const day = days.atOrAfter(timeToday === null ? today + 1 : today)
  const time = day === today ? timeToday : times.atOrAfter(0)
  return day === null || time === null ? null : (day * daySeconds + time) * 1_000
}

function previousTime(days: CalendarDays, times: TimesOfDay, beforeMs: number): number | null {
  const second = Math.ceil(beforeMs / 1_000) - 1
  const today = Math.floor(second / daySeconds)
  const timeToday = times.atOrBefore(second - today * daySeconds)
  const day = days.atOrBefore(timeToday === null ? today - 1 : today)
  const time = day === today ? timeToday : times.atOrBefore(daySeconds - 1)
  return day === null || time === null ? null : (day * daySeconds + time) * 1_000
}
