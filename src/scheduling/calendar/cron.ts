import type { CalendarSchedule } from '../schedule.ts'
import { calendarSchedule } from './calendar-schedule.ts'
import { parseFields } from './cron-fields.ts'

/**
 * The schedule of a cron expression of five fields (at second 0) or six (second first), read in an IANA time zone.
 * Where both the day of month and the day of week are given, a day that fits either counts.
 */
export function parseCron(expression: string, timezone: string): CalendarSchedule {
  const key = `${timezone}\n${expression}`
  const schedule = parsed.get(key) ?? calendarSchedule(parseFields(expression), timezone)
  remember(key, schedule)
  return schedule
}

const maxParsed = 1_000
const parsed = new Map<string, CalendarSchedule>()

/** The map's order is the order of use, so the one that leaves is the one that was not asked for the longest. */
function remember(key: string, schedule: CalendarSchedule): void {
  parsed.delete(key)
  parsed.set(key, schedule)
  const [oldest] = parsed.keys()
  if (parsed.size > maxParsed && oldest !== undefined) parsed.delete(oldest)
}
