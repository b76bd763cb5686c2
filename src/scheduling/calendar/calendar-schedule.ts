import { explainCalendar } from '../explaining/explain.ts'
import type { CalendarSchedule } from '../schedule.ts'
import { wallTimes } from './calendar.ts'
import { expressionOf } from './calendar-expression.ts'
import { type CalendarFields, type CronFields, isFixedTime } from './calendar-fields.ts'
import { elapsedTimes, fixedTimes } from './clock-change.ts'
import { refuseNever } from './never.ts'
import { parseZone } from './zone.ts'

/** Builds the schedule for these fields in an IANA time zone. Throws if a field is invalid or the schedule would never run. */
export function calendarSchedule(fields: CalendarFields, timezone: string): CalendarSchedule {
  const zone = parseZone(timezone)
  const expression = expressionOf(fields)
  const times = wallTimes(fields, `The schedule "${expression}"`)
  refuseNever(times, fields, expression)
  const occurrences = isFixedTime(fields) ? fixedTimes(times, zone) : elapsedTimes(times, zone)
  const next = (afterMs: number) => (isDate(afterMs) ? dateOrNull(occurrences.next(Math.floor(afterMs))) : null)
  const previous = (beforeMs: number) => (isDate(beforeMs) ? dateOrNull(occurrences.previous(Math.ceil(beforeMs))) : null)
  const windowMs = currentWindowMs(fields)
  const schedule: Omit<CalendarSchedule, 'explain'> = {
    kind: 'calendar',
    fields: Object.freeze({ ...fields }),
    expression,
    timezone,
    next,
    previous,
    matches: (instantMs) => next(instantMs - 1) === instantMs,
    current: (nowMs) => {
      const at = previous(nowMs + 1)
      return at !== null && at > nowMs - windowMs ? at : null
    },
  }
  return Object.freeze<CalendarSchedule>({ ...schedule, explain: (options) => explainCalendar(schedule, options) })
}

function currentWindowMs({ second }: CronFields): number {
  return /^0+$/.test(second) ? 60_000 : 1_000
}

const largestDateMs = 8.64e15

function isDate(instantMs: number): boolean {
  return Math.abs(instantMs) <= largestDateMs
}

function dateOrNull(instantMs: number | null): number | null {
  return instantMs !== null && isDate(instantMs) ? instantMs : null
}
