import { TreadleError } from '../../core/errors.ts'
import { type WallTimes, wallTimes } from './calendar.ts'
import type { CalendarFields } from './calendar-fields.ts'
import { windowsText } from './time-windows.ts'

/** Throws, with the reason, where the calendar has no time that the fields name. */
export function refuseNever(times: WallTimes, fields: CalendarFields, expression: string): void {
  if (hasTime(times)) return
  throw new TreadleError('SCHEDULE_INVALID', `The schedule "${expression}" never runs: ${whyNever(fields)}`)
}

// No year before this one can be named, and without a year the calendar repeats itself.
const firstDate = Date.UTC(1_970, 0, 1)

function hasTime(times: WallTimes): boolean {
  return times.next(firstDate - 1) !== null
}

/** What is left out last before there are times is what was in the way. */
function whyNever(fields: CalendarFields): string {
  const wholeDays = { ...fields, windows: [] }
  if (runs(wholeDays))
    return `none of its times of day lies between ${windowsText(fields.windows)}. Correct the times or what they lie between`
  const anyYear: CalendarFields = { ...wholeDays, year: '*' }
  if (runs(anyYear)) return `none of its days comes in the year ${fields.year}. Correct the day or the year`
  if (runs({ ...anyYear, dayOfWeek: '*' }))
    return 'no day fits both its day of month and its day of week in its months. Correct one of the days or the month'
  return 'none of its months has the given day of month. Correct the day of month or the month'
}

function runs(fields: CalendarFields): boolean {
  return hasTime(wallTimes(fields, 'The schedule'))
}
