import type { CalendarFields } from './calendar-fields.ts'
import { windowsText } from './time-windows.ts'

/** Cron's six fields, followed by anything cron cannot express, if it makes a difference. */
export function expressionOf(fields: CalendarFields): string {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek, year, days, windows } = fields
  const parts = [second, minute, hour, dayOfMonth, month, dayOfWeek]
  if (year !== '*') parts.push(`year ${year}`)
  if (days === 'both' && dayOfMonth !== '*' && dayOfWeek !== '*') parts.push('on days that fit both')
  if (hasDividingStep(fields)) parts.push('steps that divide')
  if (windows.length > 0) parts.push(`between ${windowsText(windows)}`)
  return parts.join(' ')
}

/** If the lowest value is 0, both kinds of steps produce the same values. */
function hasDividingStep({ steps, dayOfMonth, month, year }: CalendarFields): boolean {
  return steps === 'divisible' && [dayOfMonth, month, year].some((field) => field.includes('*/'))
}
