import type { CalendarSchedule } from '../../schedule.ts'
import { calendarSchedule } from '../calendar-schedule.ts'
import { parseFields } from './cron-fields.ts'

/**
 * Parses a cron expression with five fields (at second 0) or six (second first), in an IANA time zone. If both the day of month
 * and the day of week are given, a day that matches either counts.
 */
export function parseCron(expression: string, timezone: string): CalendarSchedule {
  const key = typeof expression === 'string' ? `${timezone}\n${expression}` : ''
  const schedule = parsed.get(key) ?? calendarSchedule(parseFields(expression), timezone)
  remember(key, schedule)
  return schedule
}

const maxParsed = 1_000
const parsed = new Map<string, CalendarSchedule>()

/** The map is ordered by last use, so the least recently used entry is evicted. */
function remember(key: string, schedule: CalendarSchedule): void {
  parsed.delete(key)
  parsed.set(key, schedule)
  const [oldest] = parsed.keys()
  if (parsed.size > maxParsed && oldest !== undefined) parsed.delete(oldest)
}
