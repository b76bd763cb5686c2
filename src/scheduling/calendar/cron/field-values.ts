import { TreadleError } from '../../../core/errors.ts'
import type { CalendarFields } from '../calendar-fields.ts'
import { type FieldName, type FieldRange, fieldRanges } from './field-ranges.ts'

/** One item of a field's list: values, or days that depend on the month. */
export type FieldItem =
  | { readonly kind: 'values'; readonly values: readonly number[] }
  | { readonly kind: 'last day' }
  | { readonly kind: 'last working day' }
  | { readonly kind: 'nearest working day'; readonly day: number }
  | { readonly kind: 'last weekday'; readonly weekday: number }
  | { readonly kind: 'nth weekday'; readonly weekday: number; readonly nth: number }

/**
 * Parses the text of a field. Errors name the field, the text and the accepted forms; `whole` describes what the field belongs
 * to, such as 'The cron expression "60 * * * *"'.
 */
export function parseField(name: FieldName, text: string, steps: CalendarFields['steps'], whole: string): readonly FieldItem[] {
  return text.split(',').map((item) => {
    const parsed = parseItem(name, item.toLowerCase(), steps)
    if (typeof parsed === 'string') throw badField(name, text, whole, parsed)
    return parsed
  })
}

/** Parses a field that has no items that depend on the month. */
export function parseValues(name: FieldName, text: string, steps: CalendarFields['steps'], whole: string): readonly number[] {
  return parseField(name, text, steps, whole).flatMap((item) => (item.kind === 'values' ? item.values : []))
}

/** Returns the item, or the problem with it. */
function parseItem(name: FieldName, item: string, steps: CalendarFields['steps']): FieldItem | Problem {
  const range = fieldRanges[name]
  const special = name === 'dayOfMonth' ? parseDay(item) : name === 'dayOfWeek' ? parseWeekday(item) : undefined
  if (special !== undefined) return special
  const star = /^\*(?:\/(\d{1,4}))?$/.exec(item)
  if (star !== null) return starValues(range, Number(star[1] ?? 1), steps)
  const [, from, to, step] = /^([^-/]+)(?:-([^-/]+)(?:\/(\d{1,4}))?)?$/.exec(item) ?? []
  return from === undefined ? unknownForm : rangeValues(range, from, to ?? from, Number(step ?? 1))
}

type Problem = string
const unknownForm: Problem = ''

function parseDay(item: string): FieldItem | Problem | undefined {
  if (item === 'l') return { kind: 'last day' }
  if (item === 'lw') return { kind: 'last working day' }
  const [, nearest] = /^(\d{1,2})w$/.exec(item) ?? []
  if (nearest === undefined) return undefined
  const day = numberOf(fieldRanges.dayOfMonth, nearest)
  return day === undefined ? unknownForm : { kind: 'nearest working day', day }
}

function parseWeekday(item: string): FieldItem | Problem | undefined {
  const [, text, nth] = /^(\w+?)(?:l|#([1-5]))$/.exec(item) ?? []
  if (text === undefined) return undefined
  const value = numberOf(fieldRanges.dayOfWeek, text)
  if (value === undefined) return unknownForm
  const weekday = value % 7
  return nth === undefined ? { kind: 'last weekday', weekday } : { kind: 'nth weekday', weekday, nth: Number(nth) }
}

function starValues(range: FieldRange, step: number, steps: CalendarFields['steps']): FieldItem | Problem {
  const problem = stepProblem(range, step)
  if (problem !== undefined) return problem
  const first = steps === 'counted' ? range.lowest : Math.ceil(range.lowest / step) * step
  return { kind: 'values', values: every(range, first, range.highest, step) }
}

function rangeValues(range: FieldRange, fromText: string, toText: string, step: number): FieldItem | Problem {
  const from = numberOf(range, fromText)
  // A range such as SAT-SUN ends on the following Sunday.
  const to = toText === range.names[0] && fromText !== toText ? (range.cycle ?? range.lowest) : numberOf(range, toText)
  if (from === undefined || to === undefined) return unknownForm
  if (from > to) return 'the range runs backwards'
  return stepProblem(range, step) ?? { kind: 'values', values: every(range, from, to, step) }
}

function numberOf({ lowest, highest, digits, names }: FieldRange, text: string): number | undefined {
  if (names.includes(text)) return lowest + names.indexOf(text)
  const value = digits.test(text) ? Number(text) : Number.NaN
  return value >= lowest && value <= highest ? value : undefined
}

function stepProblem({ lowest, highest, cycle }: FieldRange, step: number): Problem | undefined {
  const largest = cycle ?? highest - lowest + 1
  return step >= 1 && step <= largest ? undefined : `a step goes from 1 to ${largest}`
}

function every({ cycle = Number.POSITIVE_INFINITY }: FieldRange, from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => (from + index * step) % cycle)
}

function badField(name: FieldName, text: string, whole: string, problem: Problem): TreadleError {
  const { label, accepted } = fieldRanges[name]
  const why = problem === unknownForm ? '' : ` (${problem})`
  return new TreadleError(
    'SCHEDULE_INVALID',
    `${whole} has an invalid ${label}, "${text}"${why}. Accepted are *, ${accepted}, a range such as 1-5, a step such as */2 or 1-5/2, and lists of these such as 1,3,5`,
  )
}
