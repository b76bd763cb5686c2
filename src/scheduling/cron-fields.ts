import { Cron } from 'croner'
import { TreadleError } from '../core/errors.ts'

/** The six fields of a cron expression, each as it is written. */
export interface CronFields {
  readonly second: string
  readonly minute: string
  readonly hour: string
  readonly dayOfMonth: string
  readonly month: string
  readonly dayOfWeek: string
}

/** Splits and checks an expression of six fields, or of five, which run at second 0. */
export function parseFields(expression: string): CronFields {
  if (typeof expression !== 'string' || expression.length > maxLength) throw notAnExpression(expression)
  const texts = expression.trim().split(/\s+/)
  if (texts.length === 5) texts.unshift('0')
  if (texts.length !== fieldNames.length) throw notAnExpression(expression)
  const [second, minute, hour, dayOfMonth, month, dayOfWeek] = texts as [string, string, string, string, string, string]
  const fields: CronFields = { second, minute, hour, dayOfMonth, month, dayOfWeek }
  for (const name of fieldNames) if (!isSound(name, fields[name])) throw badField(expression, name, fields[name])
  return fields
}

export function expressionOf(fields: CronFields): string {
  return fieldNames.map((name) => fields[name]).join(' ')
}

/**
 * A fixed-time job names its times of day; one with a star among second, minute and hour follows elapsed time.
 * The difference shows where clocks change.
 */
export function isFixedTime({ second, minute, hour }: CronFields): boolean {
  return ![second, minute, hour].some((field) => field.includes('*'))
}

type FieldName = keyof CronFields

const fieldNames = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const satisfies readonly FieldName[]

// Sixty seconds, sixty minutes, 24 hours, 31 days, twelve months and seven weekdays, all listed, take half of it.
const maxLength = 1_024

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const weekdays = 'sun|mon|tue|wed|thu|fri|sat'

const fieldForms: { readonly [Name in FieldName]: FieldForm } = {
  second: { label: 'second', value: '\\d{1,2}', special: '', values: 'a number from 0 to 59' },
  minute: { label: 'minute', value: '\\d{1,2}', special: '', values: 'a number from 0 to 59' },
  hour: { label: 'hour', value: '\\d{1,2}', special: '', values: 'a number from 0 to 23' },
  dayOfMonth: {
    label: 'day of month',
    value: '\\d{1,2}',
    special: '|L|LW|\\d{1,2}W',
    values: 'a number from 1 to 31, L (the last day), LW (the last weekday), 15W (the weekday nearest to the 15th)',
  },
  month: {
    label: 'month',
    value: `(?:\\d{1,2}|${months})`,
    special: '',
    values: 'a number from 1 to 12, a name from JAN to DEC',
  },
  dayOfWeek: {
    label: 'day of week',
    value: `(?:\\d|${weekdays})`,
    special: `|(?:\\d|${weekdays})(?:L|#[1-5])`,
    values: 'a number from 0 to 7 (0 and 7 are Sunday), a name from SUN to SAT, 5L (the last Friday), MON#2 (the second Monday)',
  },
}

interface FieldForm {
  readonly label: string
  /** What one value looks like, as the source of a regular expression. */
  readonly value: string
  readonly special: string
  readonly values: string
}

/** The form is ours, so that croner's dialects stay out; whether the numbers are in range is croner's answer. */
function isSound(name: FieldName, text: string): boolean {
  return grammars[name].test(text) && cronerAccepts(expressionOf({ ...anyTime, [name]: text }))
}

const anyTime: CronFields = { second: '*', minute: '*', hour: '*', dayOfMonth: '*', month: '*', dayOfWeek: '*' }

const grammars = Object.fromEntries(fieldNames.map((name) => [name, grammarOf(fieldForms[name])])) as Record<FieldName, RegExp>

function grammarOf({ value, special }: FieldForm): RegExp {
  const item = `(?:\\*(?:/\\d{1,2})?|${value}(?:-${value}(?:/\\d{1,2})?)?${special})`
  return new RegExp(`^${item}(?:,${item})*$`, 'i')
}

function cronerAccepts(expression: string): boolean {
  try {
    new Cron(expression, { mode: '6-part', utcOffset: 0 })
    return true
  } catch {
    return false
  }
}

function notAnExpression(expression: unknown): TreadleError {
  const got = typeof expression === 'string' ? JSON.stringify(expression.slice(0, 100)) : typeof expression
  return new TreadleError(
    'SCHEDULE_INVALID',
    `A cron expression has five fields (minute, hour, day of month, month, day of week) or six (second first), such as "30 2 * * 1-5"; got ${got}`,
  )
}

function badField(expression: string, name: FieldName, text: string): TreadleError {
  const { label, values } = fieldForms[name]
  return new TreadleError(
    'SCHEDULE_INVALID',
    `The cron expression "${expression.trim()}" has an invalid ${label}, "${text}". Accepted are *, ${values}, a range such as 1-5, a step such as */2 or 1-5/2, and lists of these such as 1,3,5`,
  )
}
