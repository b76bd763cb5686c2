import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { CronFields } from '../calendar/calendar-fields.ts'
import { fieldRanges } from '../calendar/cron/field-ranges.ts'

/** A day of the week, by name or number: 0 and 7 are Sunday. */
export type DayOfWeek = number | (typeof dayNames)[number] | 'sun' | 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat'

/** A month, by name or by number from 1 to 12. */
export type Month =
  | number
  | (typeof monthNames)[number]
  | ('jan' | 'feb' | 'mar' | 'apr' | 'jun' | 'jul' | 'aug' | 'sep' | 'oct' | 'nov' | 'dec')

export type OneOrMore<Value> = Value | readonly Value[]

/** Turns one or more values into a cron field: sorted and without duplicates. */
export function fieldOf(field: keyof CronFields, given: OneOrMore<number | string>, method: string): string {
  const values: readonly unknown[] = Array.isArray(given) ? given : [given]
  const numbers = values.map(
    (value) => numberOf(field, value) ?? refuse(field, `, or a list of these, got ${shown(value)}`, method),
  )
  if (numbers.length === 0) refuse(field, ', or a list of these, got an empty list', method)
  return [...new Set(numbers)].sort((one, other) => one - other).join(',')
}

/** Like `fieldOf`, for a single value. */
export function numberIn(field: keyof CronFields, value: number | string, method: string): number {
  return numberOf(field, value) ?? refuse(field, `, got ${shown(value)}`, method)
}

const dayNames = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const

// biome-ignore format: twelve lines would say no more
const monthNames = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'] as const

const fullNames: { readonly [Field in keyof CronFields]?: readonly string[] } = { month: monthNames, dayOfWeek: dayNames }

function numberOf(field: keyof CronFields, value: unknown): number | null {
  const { lowest, highest, names, cycle = Number.POSITIVE_INFINITY } = fieldRanges[field]
  if (typeof value === 'number') return Number.isInteger(value) && value >= lowest && value <= highest ? value % cycle : null
  if (typeof value !== 'string') return null
  const name = value.toLowerCase()
  const index = Math.max(names.indexOf(name), fullNames[field]?.indexOf(name) ?? -1)
  return index < 0 ? null : lowest + index
}

function refuse(field: keyof CronFields, more: string, method: string): never {
  const { lowest, highest } = fieldRanges[field]
  const name = fullNames[field]?.[1]
  const names = name === undefined ? '' : ` or a name such as '${name}' or '${name.slice(0, 3)}'`
  throw new TreadleError('SCHEDULE_INVALID', `${method} takes a number from ${lowest} to ${highest}${names}${more}`)
}
