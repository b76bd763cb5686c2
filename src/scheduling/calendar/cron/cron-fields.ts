import { TreadleError } from '../../../core/errors.ts'
import type { CalendarFields, CronFields } from '../calendar-fields.ts'
import { parseField } from './field-values.ts'

/** Splits and validates an expression with six fields, with five (which run at second 0), or a name such as `@daily`. */
export function parseFields(expression: string): CalendarFields {
  if (typeof expression !== 'string' || expression.length > maxLength) throw notAnExpression(expression)
  const texts = textOf(expression.trim()).split(/\s+/)
  if (texts.length === 5) texts.unshift('0')
  if (texts.length !== fieldNames.length) throw notAnExpression(expression)
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = texts as [string, string, string, string, string, string]
  const fields = { second, minute, hour, dayOfMonth, month, dayOfWeek }
  for (const name of fieldNames) parseField(name, fields[name], 'counted', `The cron expression "${expression.trim()}"`)
  return { ...fields, year: '*', days: 'either', steps: 'counted', windows: [] }
}

// Listing every second, minute, hour, day, month and weekday takes half of this.
const maxLength = 1_024

const fieldNames = [
  'second',
  'minute',
  'hour',
  'dayOfMonth',
  'month',
  'dayOfWeek',
] as const satisfies readonly (keyof CronFields)[]

function textOf(expression: string): string {
  if (!expression.startsWith('@')) return expression
  const text = macros.get(expression.toLowerCase())
  if (text !== undefined) return text
  const why = /^@reboot$/i.test(expression)
    ? '"@reboot" is not a time: start such work where your program starts'
    : `"${expression}" is not a name that is known`
  throw new TreadleError(
    'SCHEDULE_INVALID',
    `${why}. Accepted are ${[...macros.keys()].join(', ')}, and cron's five or six fields`,
  )
}

const macros: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

function notAnExpression(expression: unknown): TreadleError {
  const got = typeof expression === 'string' ? JSON.stringify(expression.slice(0, 100)) : typeof expression
  return new TreadleError(
    'SCHEDULE_INVALID',
    `A cron expression has five fields (minute, hour, day of month, month, day of week) or six (second first), such as "30 2 * * 1-5"; got ${got}`,
  )
}
