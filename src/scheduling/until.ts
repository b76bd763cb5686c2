import { explainCalendar } from './explaining/explain.ts'
import type { CalendarSchedule } from './schedule.ts'

/** The same schedule without occurrences after an instant. */
export function endingAt(schedule: CalendarSchedule, until: number): CalendarSchedule {
  const bounded = (at: number | null) => (at !== null && at <= until ? at : null)
  const ending: Omit<CalendarSchedule, 'explain'> = {
    ...schedule,
    next: (afterMs) => bounded(schedule.next(afterMs)),
    previous: (beforeMs) => schedule.previous(Math.min(beforeMs, until + 1)),
    matches: (instantMs) => instantMs <= until && schedule.matches(instantMs),
    current: (nowMs) => bounded(schedule.current(nowMs)),
  }
  return Object.freeze<CalendarSchedule>({ ...ending, explain: (options) => explainCalendar(ending, options) })
}
