import type { ScheduleRecord } from '../../queue/contract/schedule-store.ts'
import type { CalendarSchedule } from '../../scheduling/schedule.ts'

/** What schedulers have stored as the next run; null if the code has changed since, and with it the times. */
export function storedNextRun(
  { expression, timezone }: Pick<ScheduleRecord, 'expression' | 'timezone'>,
  record: Pick<ScheduleRecord, 'expression' | 'timezone' | 'nextAt'> | null,
): number | null {
  return record?.expression === expression && record.timezone === timezone ? record.nextAt : null
}

/** The next run of a schedule in the code. One that no scheduler has stored yet, although it is due, is still to come. */
export function nextRunOf(schedule: CalendarSchedule, record: Parameters<typeof storedNextRun>[1], now: number): number | null {
  const stored = storedNextRun(schedule, record)
  const next = schedule.next(now)
  // Later occurrences may be stored ahead of the next one.
  return stored !== null && next !== null ? Math.min(stored, next) : next
}
