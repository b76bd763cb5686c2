import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CalendarFields, TimeWindow } from '../../../src/scheduling/calendar/calendar-fields.ts'
import { parseFields } from '../../../src/scheduling/calendar/cron/cron-fields.ts'
import { parseField, parseValues } from '../../../src/scheduling/calendar/cron/field-values.ts'
import { monthDays } from '../../../src/scheduling/calendar/month-days.ts'
import { namedTimes } from '../../../src/scheduling/explaining/named-times.ts'
import { wordsOf } from '../../../src/scheduling/explaining/words.ts'
import { secondsInWords } from './read-words.ts'

const midnight = parseFields('0 0 * * *')

function calendarWords(fields: CalendarFields): string {
  return wordsOf(namedTimes(fields))
}

function between(from: string, to: string): TimeWindow {
  const [start, end] = [from, to].map((time) => Date.parse(`1970-01-01T${time}Z`) / 1_000) as [number, number]
  return { from: start, to: end }
}

describe('a cron expression in words', () => {
  test.each([
    ['* * * * *', 'Every minute'],
    ['*/1 * * * *', 'Every minute'],
    ['*/5 * * * *', 'Every 5 minutes'],
    ['0,30 * * * *', 'Every 30 minutes'],
    ['*/7 * * * *', 'At minutes 0, 7, 14, …, 56 of every hour'],
    ['5 * * * *', 'At minute 5 of every hour'],
    ['5,10 * * * *', 'At minutes 5 and 10 of every hour'],
    ['0-9 * * * *', 'At minutes 0 to 9 of every hour'],
    ['0-5,10,20-22 * * * *', 'At minutes 0 to 5, 10 and 20 to 22 of every hour'],
    ['0 * * * *', 'Every hour'],
    ['0 0-23 * * *', 'Every hour from 00:00 to 23:00'],
    ['0 */2 * * *', 'Every 2 hours'],
    ['0 */4 * * *', 'Every 4 hours'],
    ['0 */6 * * *', 'At 00:00, 06:00, 12:00 and 18:00'],
    ['0 */5 * * *', 'At 00:00, 05:00, 10:00, 15:00 and 20:00'],
    ['30 */2 * * *', 'At minute 30 of hours 0, 2, 4, …, 22'],
    ['30 2 * * *', 'At 02:30'],
    ['15 30 2 * * *', 'At 02:30:15'],
    ['0 9,12 * * *', 'At 09:00 and 12:00'],
    ['0,30 9,12 * * *', 'At 09:00, 09:30, 12:00 and 12:30'],
    ['0 9-17 * * *', 'Every hour from 09:00 to 17:00'],
    ['5 9-17 * * *', 'Every hour from 09:05 to 17:05'],
    ['15,45 8-18 * * *', 'At minutes 15 and 45 of every hour from 08:15 to 18:45'],
    ['*/5 9-17 * * *', 'Every 5 minutes from 09:00 to 17:55'],
    ['*/5 9-11,20 * * *', 'Every 5 minutes from 09:00 to 11:55 and from 20:00 to 20:55'],
    ['*/10 0,2,4,6 * * *', 'Every 10 minutes in the hours 0, 2, 4 and 6'],
    ['* 2 * * *', 'Every minute from 02:00 to 02:59'],
    ['0-9 2 * * *', 'Every minute from 02:00 to 02:09'],
    ['1,2,4,5,7,8,10,11,13 2 * * *', 'At minutes 1, 2, 4, 5, 7, 8, 10, 11 and 13 of hour 2'],
    ['* * * * * *', 'Every second'],
    ['*/15 * * * * *', 'Every 15 seconds'],
    ['30 * * * * *', 'At second 30 of every minute'],
    ['*/15 * 9-17 * * *', 'Every 15 seconds from 09:00 to 17:59:45'],
    ['30 * 9-17 * * *', 'At second 30 of every minute from 09:00 to 17:59'],
    ['30 5 * * * *', 'At second 30 of minute 5 of every hour'],
    ['5,10 0-9 * * * *', 'At seconds 5 and 10 of minutes 0 to 9 of every hour'],
    ['* 5 * * * *', 'Every second of minute 5 of every hour'],
    ['*/7 * * * * *', 'At seconds 0, 7, 14, …, 56 of every minute'],
    ['30 2 * * 1-5', 'At 02:30 from Monday to Friday'],
    ['30 2 * * mon-fri', 'At 02:30 from Monday to Friday'],
    ['0 9-17 * * 1-5', 'Every hour from 09:00 to 17:00, from Monday to Friday'],
    ['0 0 * * 6', 'At 00:00 on Saturday'],
    ['0 0 * * 7', 'At 00:00 on Sunday'],
    ['0 0 * * 0,6', 'At 00:00 on Saturday and Sunday'],
    ['0 0 * * 5-7', 'At 00:00 from Friday to Sunday'],
    ['0 0 * * 1,3,5', 'At 00:00 on Monday, Wednesday and Friday'],
    ['0 0 * * 0-6', 'At 00:00'],
    ['0 0 * * 1#2', 'At 00:00 on the second Monday of the month'],
    ['0 0 * * 5L', 'At 00:00 on the last Friday of the month'],
    ['15 10 * * 1,3#1,5L', 'At 10:15 on Monday, the first Wednesday and the last Friday of the month'],
    ['0 9,12 1,15 * *', 'At 09:00 and 12:00 on the 1st and 15th'],
    ['0 0 1-7 * *', 'At 00:00 from the 1st to the 7th'],
    ['0 0 2,3,11-13,21-23,31 * *', 'At 00:00 on the 2nd, 3rd, 11th to 13th, 21st to 23rd and 31st'],
    ['0 0 */2 * *', 'At 00:00 on the 1st, 3rd, 5th, …, 31st'],
    ['0 0 1-31 * *', 'At 00:00'],
    ['0 0 L * *', 'At 00:00 on the last day of the month'],
    ['0 0 LW * *', 'At 00:00 on the last weekday of the month'],
    ['0 0 15W * *', 'At 00:00 on the weekday nearest to the 15th'],
    ['0 0 1,L * *', 'At 00:00 on the 1st and last day of the month'],
    ['0 0 L 2 *', 'At 00:00 on the last day of February'],
    ['0 0 1 1,4,7,10 *', 'At 00:00 on the 1st of January, April, July and October'],
    ['0 0 1 */3 *', 'At 00:00 on the 1st of January, April, July and October'],
    ['0 0 1 1-3 *', 'At 00:00 on the 1st of every month from January to March'],
    ['0 0 * 1 *', 'At 00:00 every day in January'],
    ['0 0 * jan-mar *', 'At 00:00 every day in the months from January to March'],
    ['*/5 * * 1,12 *', 'Every 5 minutes in January and December'],
    ['0 0 * 12 1-5', 'At 00:00 from Monday to Friday in December'],
    ['0 0 * 12 1#1', 'At 00:00 on the first Monday of December'],
  ])('%s: %s', (expression, words) => {
    expect(calendarWords(parseFields(expression))).toBe(words)
  })
})

describe('a day of month and a day of week (X9)', () => {
  test.each([
    ['0 12 13 * 5', 'At 12:00 on the 13th and on every Friday'],
    ['0 12 L * 1-5', 'At 12:00 on the last day of the month and on every day from Monday to Friday'],
    ['0 12 1,15 * 1,3', 'At 12:00 on the 1st and 15th and on every Monday and Wednesday'],
    ['0 12 13 * 1,5#2', 'At 12:00 on the 13th, on every Monday and on the second Friday of the month'],
    ['0 12 13 1 5', 'At 12:00 on the 13th and on every Friday, all in January'],
    ['0 12 1-31 * 5', 'At 12:00'],
    ['0 12 13 * 0-6', 'At 12:00'],
  ])('in cron, either counts: %s: %s', (expression, words) => {
    expect(calendarWords(parseFields(expression))).toBe(words)
  })

  test.each([
    ['0 12 13 * 5', 'At 12:00 on Friday the 13th'],
    ['0 12 13 1 5', 'At 12:00 on Friday the 13th of January'],
    ['0 12 1-7 * 1', 'At 12:00 from the 1st to the 7th if it is a Monday'],
    ['0 12 13,14 * 1,5', 'At 12:00 on the 13th and 14th if it is a Monday or a Friday'],
    ['0 12 L * 1-5', 'At 12:00 on the last day of the month if it is a day from Monday to Friday'],
    ['0 12 8 * 1#2', 'At 12:00 on the 8th if it is the second Monday of the month'],
    ['0 12 1-31 * 5', 'At 12:00 on Friday'],
    ['0 12 13 * 0-6', 'At 12:00 on the 13th'],
  ])('in an object, both count: %s: %s', (expression, words) => {
    expect(calendarWords({ ...parseFields(expression), days: 'both' })).toBe(words)
  })
})

describe('what cron cannot say', () => {
  test.each<[string, Partial<CalendarFields>, string]>([
    ['a year', { year: '2027' }, 'At 00:00 every day in 2027'],
    ['years', { year: '2027,2029' }, 'At 00:00 every day in 2027 and 2029'],
    ['a run of years', { year: '2027-2030', dayOfMonth: '1' }, 'At 00:00 on the 1st, from 2027 to 2030'],
    ['only a run of years', { year: '2027-2030', hour: '*' }, 'Every hour from 2027 to 2030'],
    ['a date', { year: '2027', month: '1', dayOfMonth: '1' }, 'At 00:00 on the 1st of January, in 2027'],
    ['divisible years', { year: '*/4', steps: 'divisible' }, 'At 00:00 every day in years divisible by 4'],
    ['every year', { year: '*/1', steps: 'divisible' }, 'At 00:00'],
    ['divisible days (X10)', { dayOfMonth: '*/2', steps: 'divisible' }, 'At 00:00 on the 2nd, 4th, 6th, …, 30th'],
    [
      'divisible months (X10)',
      { dayOfMonth: '1', month: '*/3', steps: 'divisible' },
      'At 00:00 on the 1st of March, June, September and December',
    ],
    ['a window', { hour: '*', minute: '*/5', windows: [between('09:00', '17:00')] }, 'Every 5 minutes between 09:00 and 17:00'],
    [
      'a window of seconds',
      { hour: '*', minute: '*', second: '*/15', windows: [between('09:00', '17:00:30')] },
      'Every 15 seconds between 09:00 and 17:00:30',
    ],
    [
      'a window whose seconds make no difference',
      { hour: '*', windows: [between('08:59:01', '17:00:59')] },
      'Every hour between 09:00 and 17:00',
    ],
    [
      'two windows',
      { hour: '*', minute: '5', windows: [between('09:00', '12:00'), between('13:00', '17:00')] },
      'At minute 5 of every hour between 09:00 and 12:00 and between 13:00 and 17:00',
    ],
    [
      'windows that overlap',
      { hour: '*', windows: [between('11:00', '17:00'), between('09:00', '12:00')] },
      'Every hour between 09:00 and 17:00',
    ],
    ['a window of one moment', { hour: '*', windows: [between('09:00', '09:00')] }, 'Every hour at 09:00'],
    ['a window that cuts times off', { hour: '0,9,12', windows: [between('09:00', '17:00')] }, 'At 09:00 and 12:00'],
    [
      'a window in named hours',
      { hour: '9-17', minute: '*/5', windows: [between('12:00', '13:00')] },
      'Every 5 minutes from 09:00 to 17:55, but only between 12:00 and 13:00',
    ],
    [
      'a window on some days',
      { hour: '*', windows: [between('09:00', '17:00')], dayOfWeek: '1-5' },
      'Every hour between 09:00 and 17:00, from Monday to Friday',
    ],
  ])('%s', (_, fields, words) => {
    expect(calendarWords({ ...midnight, ...fields })).toBe(words)
  })
})

/** Few values, so that different fields often come close to each other. */
function field(lowest: number, highest: number): fc.Arbitrary<string> {
  const value = fc.oneof(fc.integer({ min: lowest, max: lowest + 4 }), fc.integer({ min: lowest, max: highest }))
  const range = fc.tuple(value, value).map(([one, other]) => `${Math.min(one, other)}-${Math.max(one, other)}`)
  const step = fc.integer({ min: 1, max: highest - lowest })
  const item = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([span, by]) => `${span}/${by}`),
    step.map((by) => `*/${by}`),
  )
  return fc.oneof(
    fc.constant('*'),
    fc.constant(String(lowest)),
    fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')),
  )
}

const time = fc.oneof(
  fc.integer({ min: 0, max: 1_439 }).map((minute) => minute * 60),
  fc.integer({ min: 0, max: 86_399 }),
)
const timeWindow = fc.tuple(time, time).map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }))

const times: fc.Arbitrary<CalendarFields> = fc
  .record({
    second: fc.oneof(fc.constant('0'), field(0, 59)),
    minute: field(0, 59),
    hour: field(0, 23),
    windows: fc.oneof(fc.constant([]), fc.array(timeWindow, { minLength: 1, maxLength: 2 })),
  })
  .map((fields) => ({ ...midnight, ...fields }))

const specialDay = fc.constantFrom('L', 'LW', '1W', '15W', '1,L', 'L,LW', '15W,16W', '2,LW')
const specialWeekday = fc.constantFrom('1#1', '1#2', '1L', '5L', '1,5L', '1#1,1#2', '1,1#1', '0#1')

const days: fc.Arbitrary<CalendarFields> = fc
  .record({
    dayOfMonth: fc.oneof(fc.constant('*'), field(1, 31), specialDay),
    dayOfWeek: fc.oneof(fc.constant('*'), field(0, 7), specialWeekday),
    month: fc.oneof(fc.constant('*'), field(1, 12)),
    days: fc.constantFrom('either' as const, 'both' as const),
    steps: fc.constantFrom('counted' as const, 'divisible' as const),
  })
  .map((fields) => ({ ...midnight, ...fields }))

const clockNames = ['hour', 'minute', 'second'] as const

function values(fields: CalendarFields, name: (typeof clockNames)[number] | 'month'): number[] {
  return [...new Set(parseValues(name, fields[name], fields.steps, ''))].sort((one, other) => one - other)
}

function namedSeconds(fields: CalendarFields): number[] {
  const [hours, minutes, seconds] = clockNames.map((name) => values(fields, name)) as [number[], number[], number[]]
  const all = hours.flatMap((hour) => minutes.flatMap((minute) => seconds.map((second) => hour * 3_600 + minute * 60 + second)))
  return all.filter((at) => fields.windows.length === 0 || fields.windows.some(({ from, to }) => from <= at && at <= to))
}

/** The days of every kind of month that can be, as one text. */
function namedDays(fields: CalendarFields): string {
  const { dayOfMonth, dayOfWeek, steps } = fields
  const ofMonth = parseField('dayOfMonth', dayOfMonth, steps, '')
  const ofWeek = parseField('dayOfWeek', dayOfWeek, steps, '')
  const fit = dayOfMonth === '*' || dayOfWeek === '*' ? 'both' : fields.days
  const daysIn = monthDays({ ofMonth, ofWeek, fit })
  const named = values(fields, 'month').flatMap((month) => {
    const lengths = month === 2 ? [28, 29] : [[4, 6, 9, 11].includes(month) ? 30 : 31]
    const bits = lengths.flatMap((length) => [0, 1, 2, 3, 4, 5, 6].map((weekday) => daysIn(weekday, length)))
    return bits.some((some) => some !== 0) ? [`${month}:${bits.join()}`] : []
  })
  return named.join(' ')
}

/** Schedules that have the same words though they do not name the same. */
function misnamed(samples: readonly CalendarFields[], namedBy: (fields: CalendarFields) => string): unknown[] {
  const known = new Map<string, { fields: CalendarFields; named: string }>()
  return samples.flatMap((fields) => {
    const named = namedBy(fields)
    if (named === '') return []
    const words = calendarWords(fields)
    const other = known.get(words)
    known.set(words, { fields, named })
    return other === undefined || other.named === named ? [] : [{ words, fields, other: other.fields }]
  })
}

describe('words that can be relied on', () => {
  test('the time of day can be read back', () => {
    const property = fc.property(times, (fields) => {
      const named = namedSeconds(fields)
      fc.pre(named.length > 0)
      const words = calendarWords(fields)
      const read = secondsInWords(words)
      const isSame = read.length === named.length && read.every((second, index) => second === named[index])
      expect(isSame, `"${words}" for ${JSON.stringify(fields)}`).toBe(true)
    })
    fc.assert(property, { numRuns: 200, seed: 1 })
  })

  test('other days have other words', () => {
    const samples = fc.sample(days, { numRuns: 3_000, seed: 2 })
    expect(misnamed(samples, namedDays)).toEqual([])
  })

  test('other times on other days have other words', () => {
    const both = fc.tuple(times, days, fc.constantFrom('*', '2027', '2028', '2027-2029', '2027,2029'))
    const whole = both.map(([{ second, minute, hour }, day, year]) => ({ ...day, second, minute, hour, year }))
    const samples = fc.sample(whole, { numRuns: 1_000, seed: 3 })
    const namedBy = (fields: CalendarFields) => {
      const dates = namedDays(fields)
      return dates === '' ? '' : [...clockNames.map((name) => values(fields, name)), dates, fields.year].join(' ')
    }
    expect(misnamed(samples, namedBy)).toEqual([])
  })

  test('no sentence shows its seams', () => {
    const property = fc.property(times, days, (time, day) => {
      const words = calendarWords({ ...day, ...pick(time) })
      expect(words).toMatch(/^[A-Z]/)
      expect(words).not.toMatch(/undefined|NaN|null| {2}|[*#/?]|\d[LW]|,,|[ ,]$/)
    })
    fc.assert(property, { numRuns: 1_000, seed: 4 })
  })
})

function pick({ second, minute, hour }: CalendarFields): Partial<CalendarFields> {
  return { second, minute, hour }
}
