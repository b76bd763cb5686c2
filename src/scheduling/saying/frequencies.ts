import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { CalendarFields, CronFields } from '../calendar/calendar-fields.ts'
import { type DayOfWeek, fieldOf, type Month, numberIn, type OneOrMore } from './calendar-values.ts'
import { timeFields } from './written-times.ts'

/**
 * How often a job runs: the fields that were named, and those implied unless something else is given. Fields in neither are open,
 * like a star.
 */
export interface FrequencyFields {
  readonly named: Partial<CalendarFields>
  readonly implied: Partial<CronFields>
}

const fullMinute: Partial<CronFields> = { second: '0' }
const fullHour: Partial<CronFields> = { ...fullMinute, minute: '0' }
const midnight: Partial<CronFields> = { ...fullHour, hour: '0' }

export const hourly = frequency({}, fullHour)
export const everyOddHour = frequency({ hour: '1-23/2' }, fullHour)
export const daily = frequency({}, midnight)
export const weekly = frequency({}, { ...midnight, dayOfWeek: '0' })
export const monthly = frequency({}, { ...midnight, dayOfMonth: '1' })
export const quarterly = frequency({ month: '1,4,7,10' }, { ...midnight, dayOfMonth: '1' })
export const yearly = frequency({}, { ...midnight, dayOfMonth: '1', month: '1' })

export function everySeconds(seconds: number, method: string): FrequencyFields {
  refuseUneven(seconds, minuteSteps, method)
  return frequency(seconds === 1 ? {} : { second: `*/${seconds}` }, {})
}

export function everyMinutes(minutes: number, method: string): FrequencyFields {
  refuseUneven(minutes, hourSteps, method)
  return frequency(minutes === 1 ? {} : { minute: `*/${minutes}` }, fullMinute)
}

export function everyHours(hours: number, method: string): FrequencyFields {
  refuseUneven(hours, daySteps, method)
  return hours === 1 ? hourly : frequency({ hour: `*/${hours}` }, fullHour)
}

export function hourlyAt(minutes: OneOrMore<number>, method: string): FrequencyFields {
  return frequency({ minute: fieldOf('minute', minutes, method) }, fullHour)
}

export function dailyAt(time: string, method: string): FrequencyFields {
  return frequency(timeFields(time, method), midnight)
}

export function twiceDaily(hours: readonly [number, number], method: string): FrequencyFields {
  return frequency({ hour: twoOf('hour', hours, method) }, midnight)
}

export function twiceDailyAt(hours: readonly [number, number], minute: number, method: string): FrequencyFields {
  return frequency({ hour: twoOf('hour', hours, method), minute: String(numberIn('minute', minute, method)) }, midnight)
}

export function weeklyOn(days: OneOrMore<DayOfWeek>, time: string | undefined, method: string): FrequencyFields {
  return atTime({ dayOfWeek: fieldOf('dayOfWeek', days, method) }, time, method)
}

export function monthlyOn(days: OneOrMore<number>, time: string | undefined, method: string): FrequencyFields {
  return atTime({ dayOfMonth: fieldOf('dayOfMonth', days, method) }, time, method)
}

export function twiceMonthly(days: readonly [number, number], time: string | undefined, method: string): FrequencyFields {
  return atTime({ dayOfMonth: twoOf('dayOfMonth', days, method) }, time, method)
}

export function lastDayOfMonth(time: string | undefined, method: string): FrequencyFields {
  return atTime({ dayOfMonth: 'L' }, time, method)
}

export function quarterlyOn(days: OneOrMore<number>, time: string | undefined, method: string): FrequencyFields {
  return atTime({ ...quarterly.named, dayOfMonth: fieldOf('dayOfMonth', days, method) }, time, method)
}

export function yearlyOn(month: Month, day: number, time: string | undefined, method: string): FrequencyFields {
  const monthNumber = numberIn('month', month, method)
  const dayOfMonth = numberIn('dayOfMonth', day, method)
  const longest = new Date(Date.UTC(aLeapYear, monthNumber, 0)).getUTCDate()
  if (dayOfMonth > longest)
    throw new TreadleError(
      'SCHEDULE_INVALID',
      `${method} takes a day that month ${monthNumber} has, up to ${longest}, got ${day}`,
    )
  return atTime({ month: String(monthNumber), dayOfMonth: String(dayOfMonth) }, time, method)
}

const aLeapYear = 2_028

function frequency(named: Partial<CalendarFields>, implied: Partial<CronFields>): FrequencyFields {
  return { named, implied }
}

function atTime(days: Partial<CronFields>, time: string | undefined, method: string): FrequencyFields {
  return frequency({ ...days, ...(time === undefined ? {} : timeFields(time, method)) }, midnight)
}

function twoOf(field: 'hour' | 'dayOfMonth', given: readonly [number, number], method: string): string {
  const [one, other] = given.map((value) => numberIn(field, value, method)) as [number, number]
  if (one === other) throw new TreadleError('SCHEDULE_INVALID', `${method} takes two different values, got ${one} twice`)
  return `${Math.min(one, other)},${Math.max(one, other)}`
}

interface Steps {
  readonly cycle: 'minute' | 'hour' | 'day'
  /** The name for one run per cycle. */
  readonly once: string
  readonly unit: string
  /** Steps that divide the cycle; with others the last step of each cycle would be shorter. */
  readonly even: readonly number[]
}

const minuteSteps: Steps = {
  cycle: 'minute',
  once: 'everyMinute()',
  unit: 'seconds',
  even: [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30],
}
const hourSteps: Steps = { cycle: 'hour', once: 'hourly()', unit: 'minutes', even: minuteSteps.even }
const daySteps: Steps = { cycle: 'day', once: 'daily()', unit: 'hours', even: [1, 2, 3, 4, 6, 8, 12] }

function refuseUneven(count: number, { cycle, once, unit, even }: Steps, method: string): void {
  if (even.includes(count)) return
  const distance = Number.isSafeInteger(count) && count >= 1 && count <= 999 ? count : 7
  const advice =
    count === (even.at(-1) as number) * 2
      ? `For one run each ${cycle} say ${once}`
      : `Any other distance is a repeat, such as repeat('SCHEDULED, +${distance} ${unit.toUpperCase()}')`
  throw new TreadleError(
    'SCHEDULE_INVALID',
    `${method} takes a number of ${unit} that divides the ${cycle} evenly: ${even.join(', ')}; got ${shown(count)}. ${advice}`,
  )
}
