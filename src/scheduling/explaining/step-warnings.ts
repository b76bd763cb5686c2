import type { CalendarFields, CronFields } from '../calendar/calendar-fields.ts'
import { fieldRanges } from '../calendar/cron/field-ranges.ts'
import { counted } from './lists-in-words.ts'
import { type NamedTimes, plainValues } from './named-times.ts'

/** Steps restart with every hour, day, month or year, so the last gap may be shorter or longer. */
export function stepWarnings(fields: CalendarFields, named: NamedTimes): string[] {
  return [
    ...(isFollowed(named.minutes.values, 60)
      ? unevenStep(fields, 'second', named.seconds.values, { unit: 'second', size: 60, period: 'minute' })
      : []),
    ...(isFollowed(named.hours.values, 24)
      ? unevenStep(fields, 'minute', named.minutes.values, { unit: 'minute', size: 60, period: 'hour' })
      : []),
    ...unevenStep(fields, 'hour', named.hours.values, { unit: 'hour', size: 24, period: 'day' }),
    ...unevenDays(fields, named),
    ...unevenStep(fields, 'month', named.months.values, { unit: 'month', size: 12, period: 'year' }),
    ...unevenStep(fields, 'dayOfWeek', plainValues(named.days.ofWeek ?? []), { unit: 'day', size: 7, period: 'week' }),
  ]
}

/** Whether two matching periods are adjacent: only then is there a gap between their steps. */
function isFollowed(periods: readonly number[], size: number): boolean {
  return periods.some((period) => periods.includes((period + 1) % size))
}

interface Cycle {
  readonly unit: string
  /** Number of units in a period. */
  readonly size: number
  readonly period: string
}

function unevenStep(fields: CalendarFields, name: keyof CronFields, values: readonly number[], cycle: Cycle): string[] {
  const step = stepIn(fields[name], name)
  const { unit, size, period } = cycle
  const lastGap = size - values.at(-1)! + values[0]!
  if (step === null || values.length < 2 || lastGap === step) return []
  return [
    `A step of ${counted(step, unit)} starts again every ${period}: the last gap of each ${period} is ${counted(lastGap, unit)}, not ${step}. ${evenAdvice(step, cycle)}`,
  ]
}

function unevenDays({ dayOfMonth }: CalendarFields, { days }: NamedTimes): string[] {
  const step = stepIn(dayOfMonth, 'dayOfMonth')
  if (step === null || plainValues(days.ofMonth ?? []).length < 2) return []
  return [
    `A step of ${counted(step, 'day')} starts again every month: the gap at the end of a month is another one. ${repeatAdvice(step, 'day')}`,
  ]
}

/** A range that covers the whole field is equivalent to a star. */
function stepIn(text: string, name: keyof CronFields): number | null {
  const [, first, last, step] = /^(?:\*|(\d+)-(\d+))\/(\d+)$/.exec(text) ?? []
  const { lowest, highest, cycle = highest + 1 } = fieldRanges[name]
  const isWhole = first === undefined || (Number(first) === lowest && Number(last) >= Math.min(highest, cycle - 1))
  return step === undefined || step === '1' || !isWhole ? null : Number(step)
}

function evenAdvice(step: number, { unit, size }: Cycle): string {
  const divisors = Array.from({ length: size }, (_, index) => index + 1).filter(
    (divisor) => size % divisor === 0 && divisor < size,
  )
  const near = [divisors.findLast((divisor) => divisor > 1 && divisor < step), divisors.find((divisor) => divisor > step)]
  const names = near.filter((divisor) => divisor !== undefined).join(' or ')
  return names === '' ? repeatAdvice(step, unit) : `For even gaps use a step that divides ${size}, such as ${names}`
}

function repeatAdvice(step: number, unit: string): string {
  return `For even gaps repeat from run to run: SCHEDULED, +${counted(step, unit).toUpperCase()}`
}
