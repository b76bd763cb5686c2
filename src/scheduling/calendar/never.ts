import { TreadleError } from '../../core/errors.ts'
import { type WallTimes, wallTimes } from './calendar.ts'
import type { CalendarFields } from './calendar-fields.ts'
import { windowsText } from './time-windows.ts'

/** Throws, with the reason, if no time in the calendar matches the fields. */
export function refuseNever(times: WallTimes, fields: CalendarFields, expression: string): void {
  if (hasTime(times)) return
  throw new TreadleError('SCHEDULE_INVALID', `The schedule "${expression}" never runs: ${whyNever(fields)}`)
}

// No earlier year can be named, and without a year the calendar repeats.
const firstDate = Date.UTC(1_970, 0, 1)

function hasTime(times: WallTimes): boolean {
  return times.next(firstDate - 1) !== null
}

/** Removes restrictions one by one; the one whose removal produces times is the reason. */
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
