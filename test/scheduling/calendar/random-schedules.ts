import fc from 'fast-check'
import type { CalendarFields, TimeWindow } from '../../../src/scheduling/calendar/calendar-fields.ts'

/** Fields with what they mean, worked out apart from the code that is tested. */
export interface RandomSchedule {
  readonly fields: CalendarFields
  /** Whether the time on a clock without a zone is named. */
  names(wallMs: number): boolean
  namesDay(wallMs: number): boolean
}

export interface Extent {
  readonly seconds: 'zero' | 'any'
  /** Plain cron, cron with L, W and #, or everything that the calendar can say. */
  readonly language: 'plain' | 'special' | 'all'
}

export function randomSchedules({ seconds, language }: Extent): fc.Arbitrary<RandomSchedule> {
  const isAll = language === 'all'
  return fc
    .constantFrom<CalendarFields['steps']>('counted', ...(isAll ? (['divisible'] as const) : []))
    .chain((steps) =>
      fc.record({
        second: seconds === 'zero' ? fc.constant(zero) : field(0, 59, steps, (at) => at.getUTCSeconds()),
        minute: field(0, 59, steps, (at) => at.getUTCMinutes()),
        hour: field(0, 23, steps, (at) => at.getUTCHours()),
        dayOfMonth: field(1, 31, steps, (at) => at.getUTCDate(), language === 'plain' ? [] : specialDays),
        month: field(1, 12, steps, (at) => at.getUTCMonth() + 1),
        dayOfWeek: field(0, 7, steps, (at) => at.getUTCDay(), language === 'plain' ? [] : specialWeekdays),
        year: isAll ? fc.oneof({ weight: 3, arbitrary: fc.constant(any) }, years) : fc.constant(any),
        days: isAll ? fc.constantFrom<CalendarFields['days']>('either', 'both') : fc.constant('either' as const),
        windows: isAll
          ? fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(window, { maxLength: 3 }))
          : fc.constant([]),
        steps: fc.constant(steps),
      }),
    )
    .map(scheduleOf)
}

/** The six fields as cron text. */
export function textOf({ fields }: RandomSchedule): string {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = fields
  return [second, minute, hour, dayOfMonth, month, dayOfWeek].join(' ')
}

interface Field {
  readonly text: string
  fits(wall: Date): boolean
}

const any: Field = { text: '*', fits: () => true }
const zero: Field = { text: '0', fits: (at) => at.getUTCSeconds() === 0 }

type FieldNames = 'second' | 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek' | 'year'
type Parts = { readonly [Name in FieldNames]: Field } & Pick<CalendarFields, 'days' | 'steps' | 'windows'>

function scheduleOf(parts: Parts): RandomSchedule {
  const { second, minute, hour, dayOfMonth, month, dayOfWeek, year, days, steps, windows } = parts
  const isUnion = days === 'either' && dayOfMonth.text !== '*' && dayOfWeek.text !== '*'
  const namesDay = (wallMs: number) => {
    const at = new Date(wallMs)
    if (!month.fits(at) || !year.fits(at)) return false
    return isUnion ? dayOfMonth.fits(at) || dayOfWeek.fits(at) : dayOfMonth.fits(at) && dayOfWeek.fits(at)
  }
  const names = (wallMs: number) => {
    const at = new Date(wallMs)
    return second.fits(at) && minute.fits(at) && hour.fits(at) && isWithin(windows, at) && namesDay(wallMs)
  }
  const texts = { second: second.text, minute: minute.text, hour: hour.text, dayOfMonth: dayOfMonth.text }
  const fields = { ...texts, month: month.text, dayOfWeek: dayOfWeek.text, year: year.text, days, steps, windows }
  return { fields, names, namesDay }
}

function isWithin(windows: readonly TimeWindow[], at: Date): boolean {
  const second = at.getUTCHours() * 3_600 + at.getUTCMinutes() * 60 + at.getUTCSeconds()
  return windows.length === 0 || windows.some(({ from, to }) => from <= second && second <= to)
}

function field(
  lowest: number,
  highest: number,
  steps: CalendarFields['steps'],
  read: (at: Date) => number,
  specials: readonly fc.Arbitrary<Field>[] = [],
): fc.Arbitrary<Field> {
  const value = fc.integer({ min: lowest, max: highest })
  const range = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const step = fc.integer({ min: 1, max: highest - lowest })
  const starred = (by: number) => (steps === 'counted' ? every(lowest, highest, by) : every(0, highest, by))
  const named = (text: string, values: readonly number[]): Field => {
    // Weekday 7 is Sunday.
    const set = new Set(highest === 7 ? values.map((one) => one % 7) : values)
    return { text, fits: (at) => set.has(read(at)) }
  }
  const item = fc.oneof(
    value.map((one) => named(`${one}`, [one])),
    range.map(([from, to]) => named(`${from}-${to}`, every(from, to, 1))),
    fc.tuple(range, step).map(([[from, to], by]) => named(`${from}-${to}/${by}`, every(from, to, by))),
    step.map((by) => named(`*/${by}`, starred(by))),
    ...specials,
  )
  return fc.oneof(fc.constant(any), fc.array(item, { minLength: 1, maxLength: 3 }).map(listOf))
}

function listOf(items: readonly Field[]): Field {
  return { text: items.map(({ text }) => text).join(','), fits: (at) => items.some(({ fits }) => fits(at)) }
}

export function every(from: number, to: number, by: number): number[] {
  return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, index) => from + index * by)
}

const dayMs = 86_400_000

function shifted(at: Date, days: number): Date {
  return new Date(at.getTime() + days * dayMs)
}

const isWorkingDay = (at: Date) => at.getUTCDay() % 6 !== 0
const isLastDay = (at: Date) => shifted(at, 1).getUTCDate() === 1
const isLastWorkingDay = (at: Date) =>
  isWorkingDay(at) &&
  [1, 2, 3].every((days) => !isWorkingDay(shifted(at, days)) || shifted(at, days).getUTCMonth() !== at.getUTCMonth())

/** A working day for which no other working day of the month lies nearer to the target; a tie cannot be. */
function isNearest(at: Date, target: number): boolean {
  const day = (days: number) => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), days))
  if (day(target).getUTCMonth() !== at.getUTCMonth()) return false
  const inReach = every(target - 2, target + 2, 1).map(day)
  const working = inReach.filter((one) => one.getUTCMonth() === at.getUTCMonth() && isWorkingDay(one))
  const distance = (one: Date) => Math.abs(one.getUTCDate() - target)
  return at.getUTCDate() === working.sort((one, other) => distance(one) - distance(other))[0]?.getUTCDate()
}

const specialDays = [
  fc.constant<Field>({ text: 'L', fits: isLastDay }),
  fc.constant<Field>({ text: 'LW', fits: isLastWorkingDay }),
  fc.integer({ min: 1, max: 31 }).map((day): Field => ({ text: `${day}W`, fits: (at) => isNearest(at, day) })),
]

const specialWeekdays = [
  fc.integer({ min: 0, max: 7 }).map(
    (day): Field => ({
      text: `${day}L`,
      fits: (at) => at.getUTCDay() === day % 7 && shifted(at, 7).getUTCMonth() !== at.getUTCMonth(),
    }),
  ),
  fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 5 })).map(
    ([day, nth]): Field => ({
      text: `${day}#${nth}`,
      fits: (at) => at.getUTCDay() === day % 7 && at.getUTCDate() > 7 * (nth - 1) && at.getUTCDate() <= 7 * nth,
    }),
  ),
]

const years = fc.tuple(fc.integer({ min: 2_020, max: 2_030 }), fc.integer({ min: 0, max: 9 })).map(
  ([from, more]): Field => ({
    text: `${from}-${from + more}`,
    fits: (at) => at.getUTCFullYear() >= from && at.getUTCFullYear() <= from + more,
  }),
)

const secondOfDay = fc.integer({ min: 0, max: 86_399 })
const window = fc.tuple(secondOfDay, secondOfDay).map(([a, b]): TimeWindow => ({ from: Math.min(a, b), to: Math.max(a, b) }))
