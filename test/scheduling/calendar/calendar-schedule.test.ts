import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TreadleError } from '../../../src/core/errors.ts'
import type { CalendarFields } from '../../../src/scheduling/calendar/calendar-fields.ts'
import { calendarSchedule } from '../../../src/scheduling/calendar/calendar-schedule.ts'
import { parseFields } from '../../../src/scheduling/calendar/cron/cron-fields.ts'
import { randomSchedules } from './random-schedules.ts'

const newYear = Date.parse('2026-01-01T00:00:00Z') // a Thursday
const largestDate = 8.64e15

describe('a calendar schedule', () => {
  test.each<[string, string, Partial<CalendarFields>, readonly string[]]>([
    ['X9: days that fit both, Friday the 13th', '0 0 13 * 5', { days: 'both' }, ['2026-02-13', '2026-03-13', '2026-11-13']],
    ['X9: a star among both leaves the other', '0 0 13 * *', { days: 'both' }, ['2026-01-13', '2026-02-13', '2026-03-13']],
    ['X10: days that 10 divides', '0 0 */10 * *', { steps: 'divisible' }, ['2026-01-10', '2026-01-20', '2026-01-30']],
    ['X10: months that 3 divides', '0 0 1 */3 *', { steps: 'divisible' }, ['2026-03-01', '2026-06-01', '2026-09-01']],
    [
      'X10: a range counts from its beginning',
      '0 0 5-30/10 * *',
      { steps: 'divisible' },
      ['2026-01-05', '2026-01-15', '2026-01-25'],
    ],
    [
      'X8: weekdays that 3 divides, 7 being Sunday',
      '0 0 * * */3',
      { steps: 'divisible' },
      ['2026-01-03', '2026-01-04', '2026-01-07'],
    ],
    ['one year', '0 0 1 7 *', { year: '2030' }, ['2030-07-01']],
    ['a list of years', '0 0 1 7 *', { year: '2027,2030-2031' }, ['2027-07-01', '2030-07-01', '2031-07-01']],
    ['years counted from 1970', '0 0 1 7 *', { year: '*/4' }, ['2026-07-01', '2030-07-01', '2034-07-01']],
    ['X10: years that 4 divides', '0 0 1 7 *', { year: '*/4', steps: 'divisible' }, ['2028-07-01', '2032-07-01', '2036-07-01']],
    ['years behind us', '0 0 1 7 *', { year: '2001' }, []],
  ])('names %s', (_, cron, more, dates) => {
    const found = datesOf({ ...parseFields(cron), ...more }, newYear, Math.max(dates.length, 1))
    expect(found).toEqual(dates)
  })

  test.each([
    ['2026-01-01T08:59:30Z', '2026-01-01T09:00:00Z', '2025-12-31T17:30:00Z'],
    ['2026-01-01T12:00:00Z', '2026-01-01T12:15:00Z', '2026-01-01T11:45:00Z'],
    ['2026-01-01T12:30:00Z', '2026-01-01T16:00:00Z', '2026-01-01T12:15:00Z'],
    ['2026-01-01T17:15:01Z', '2026-01-01T17:30:00Z', '2026-01-01T17:15:00Z'],
    ['2026-01-01T17:30:00Z', '2026-01-02T09:00:00Z', '2026-01-01T17:15:00Z'],
    ['2026-01-01T17:30:01Z', '2026-01-02T09:00:00Z', '2026-01-01T17:30:00Z'],
  ])('keeps to its times of day, both ends included: around %s', (from, after, before) => {
    const windows = [at('16:00', '17:30'), at('09:00', '12:00'), at('11:00', '12:29')]
    const schedule = calendarSchedule({ ...parseFields('*/15 * * * *'), windows }, 'UTC')
    expect(schedule.next(Date.parse(from))).toBe(Date.parse(after))
    expect(schedule.previous(Date.parse(from))).toBe(Date.parse(before))
  })

  test.each<[string, Partial<CalendarFields>, string]>([
    ['0 2 * * *', {}, '0 0 2 * * *'],
    ['0 2 13 * 5', { days: 'both' }, '0 0 2 13 * 5 on days that fit both'],
    ['0 2 13 * *', { days: 'both' }, '0 0 2 13 * *'],
    ['*/5 */2 * * *', { steps: 'divisible' }, '0 */5 */2 * * *'],
    ['0 2 */2 * *', { steps: 'divisible' }, '0 0 2 */2 * * steps that divide'],
    ['0 2 * * *', { year: '*/4', steps: 'divisible' }, '0 0 2 * * * year */4 steps that divide'],
    ['0 2 * * *', { year: '2026-2030' }, '0 0 2 * * * year 2026-2030'],
    ['0 * * * *', { windows: [at('16:00', '17:30'), at('09:00', '12:00')] }, '0 0 * * * * between 09:00-12:00,16:00-17:30'],
    [
      '0 * * * *',
      { windows: [at('09:00', '12:00'), { from: 43_202, to: 43_215 }] },
      '0 0 * * * * between 09:00-12:00,12:00:02-12:00:15',
    ],
    ['0 * * * *', { windows: [at('09:00', '12:00'), { from: 43_201, to: 43_215 }] }, '0 0 * * * * between 09:00-12:00:15'],
    [
      '0 2 */2 * 5',
      { year: '2026', days: 'both', steps: 'divisible', windows: [at('01:00', '03:00')] },
      '0 0 2 */2 * 5 year 2026 on days that fit both steps that divide between 01:00-03:00',
    ],
  ])('has an expression that says all that counts: %s with %j', (cron, more, expression) => {
    expect(calendarSchedule({ ...parseFields(cron), ...more }, 'UTC').expression).toBe(expression)
  })

  test('is frozen, with its fields', () => {
    const schedule = calendarSchedule(parseFields('0 2 * * *'), 'Europe/Paris')
    expect(schedule).toMatchObject({ kind: 'calendar', timezone: 'Europe/Paris', fields: parseFields('0 2 * * *') })
    expect(Object.isFrozen(schedule) && Object.isFrozen(schedule.fields)).toBe(true)
  })

  test('explains itself', () => {
    const { text, occurrences } = calendarSchedule(parseFields('30 2 * * *'), 'Europe/Paris').explain({ from: newYear, count: 2 })
    expect(text).toContain('02:30')
    expect(occurrences.map(({ local }) => local)).toEqual(['2026-01-01 02:30:00 +01:00', '2026-01-02 02:30:00 +01:00'])
  })
})

describe('J16: the calendar', () => {
  test.each([
    ['the 29th of February in 2000, which 400 divides', '0 0 29 2 *', '1997-01-01', ['2000-02-29', '2004-02-29']],
    ['no 29th of February in 2100', '0 0 29 2 *', '2095-01-01', ['2096-02-29', '2104-02-29']],
    ['the last day of February', '0 0 L 2 *', '2099-06-01', ['2100-02-28', '2101-02-28']],
    ['the ends of the months', '0 0 L * *', '2027-12-01', ['2027-12-31', '2028-01-31', '2028-02-29', '2028-03-31']],
    ['the 31st', '0 0 31 * *', '2027-02-01', ['2027-03-31', '2027-05-31', '2027-07-31']],
    ['the end of a year', '0 0 31 12 *', '2026-12-31', ['2027-12-31', '2028-12-31']],
    ['years before there were clocks', '0 0 29 2 *', '0095-01-01', ['0096-02-29', '0104-02-29']],
  ])('has %s, forwards and backwards', (_, cron, from, dates) => {
    const schedule = calendarSchedule(parseFields(cron), 'UTC')
    expect(datesOf(parseFields(cron), Date.parse(from), dates.length)).toEqual(dates)
    const last = Date.parse(dates.at(-1) as string)
    const before = dates.slice(0, -1).reduceRight((found, _date) => schedule.previous(found) as number, last)
    expect(dateOf(before)).toBe(dates[0])
  })

  test('X9: has the 29th of February on a Monday every 28 years, but for 2100', () => {
    const fields: CalendarFields = { ...parseFields('0 0 29 2 1'), days: 'both' }
    const found = datesOf(fields, newYear, 6)
    expect(found).toEqual(['2044-02-29', '2072-02-29', '2112-02-29', '2140-02-29', '2168-02-29', '2196-02-29'])
  })
})

describe('a calendar schedule that never runs is refused', () => {
  test.each<[string, string, Partial<CalendarFields>, string]>([
    ['on a day that no month has', '0 0 30 2 *', {}, 'none of its months has the given day of month'],
    ['in a year without its day', '0 0 29 2 *', { year: '2026-2027' }, 'none of its days comes in the year 2026-2027'],
    ['on a year without its Friday', '0 0 13 6 5', { days: 'both', year: '2026' }, 'none of its days comes in the year 2026'],
    ['on days that exclude each other', '0 0 1 * 1#2', { days: 'both' }, 'no day fits both'],
    ['at times outside of its own', '0 2 * * *', { windows: [at('09:00', '17:00')] }, 'lies between 09:00-17:00'],
    ['at times between two of its own', '0,30 2 * * *', { windows: [at('02:01', '02:29')] }, 'lies between 02:01-02:29'],
  ])('%s', (_, cron, more, why) => {
    const error = refusalOf(() => calendarSchedule({ ...parseFields(cron), ...more }, 'Europe/Paris'))
    expect(error.code).toBe('SCHEDULE_INVALID')
    expect(error.message).toContain('never runs')
    expect(error.message).toContain(why)
  })

  test.each(['1969', '3000', '26', '2026-2025', '2026-', 'L', '*/0', '*/1031'])('and so is the year %s', (year) => {
    const error = refusalOf(() => calendarSchedule({ ...parseFields('0 0 1 1 *'), year }, 'UTC'))
    expect(error.code).toBe('SCHEDULE_INVALID')
    expect(error.message).toContain(`invalid year, "${year}"`)
    expect(error.message).toContain('1970 to 2999')
  })
})

describe('next, previous and matches', () => {
  const zones = ['UTC', 'Europe/Paris', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca', 'America/St_Johns']
  const instant = fc.double({ min: Date.UTC(1_960, 0, 1), max: Date.UTC(2_060, 0, 1), noNaN: true })

  test('agree with each other at every instant, also between the milliseconds', () => {
    fc.assert(
      fc.property(
        randomSchedules({ seconds: 'any', language: 'all' }),
        fc.constantFrom(...zones),
        instant,
        (random, zone, from) => {
          const schedule = scheduleOrNever(random.fields, zone)
          const after = schedule?.next(from) ?? null
          if (schedule === null || after === null) return
          expect(after).toBeGreaterThan(from)
          expect(schedule.matches(after)).toBe(true)
          expect(schedule.next(after - 1)).toBe(after)
          expect(schedule.previous(after + 1)).toBe(after)
          expect(schedule.matches(after + 1)).toBe(false)
          const before = schedule.previous(after)
          expect(before ?? Number.NEGATIVE_INFINITY).toBeLessThanOrEqual(from)
          if (before !== null) expect(schedule.next(before)).toBe(after)
        },
      ),
      { numRuns: 1_000, seed: 1 },
    )
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, largestDate + 1])(
    'know nothing of %s, which is no date',
    (instantMs) => {
      for (const zone of zones) {
        const schedule = calendarSchedule(parseFields('* * * * *'), zone)
        expect([schedule.next(instantMs), schedule.previous(instantMs), schedule.current(instantMs)]).toEqual([null, null, null])
        expect(schedule.matches(instantMs)).toBe(false)
      }
    },
  )

  test.each(zones)('end where dates end, in %s', (zone) => {
    for (const cron of ['* * * * * *', '0 30 2 * * *']) {
      const schedule = calendarSchedule(parseFields(cron), zone)
      expect(schedule.next(largestDate)).toBeNull()
      expect(schedule.previous(-largestDate)).toBeNull()
      expect(schedule.previous(largestDate)).toBeGreaterThan(largestDate - 2 * 86_400_000)
      expect(schedule.next(-largestDate)).toBeLessThan(-largestDate + 2 * 86_400_000)
    }
  })
})

function datesOf(fields: CalendarFields, afterMs: number, count: number): string[] {
  const schedule = calendarSchedule(fields, 'UTC')
  const found: string[] = []
  for (let at = schedule.next(afterMs); at !== null && found.length < count; at = schedule.next(at)) found.push(dateOf(at))
  return found
}

function dateOf(ms: number): string {
  const text = new Date(ms).toISOString()
  expect(text).toContain('T00:00:00.000Z')
  return text.slice(0, 10)
}

function at(from: string, to: string) {
  const second = (time: string) => Date.parse(`1970-01-01T${time}Z`) / 1_000
  return { from: second(from), to: second(to) }
}

function scheduleOrNever(fields: CalendarFields, timezone: string) {
  try {
    return calendarSchedule(fields, timezone)
  } catch (thrown) {
    expect(String(thrown)).toContain('never runs')
    return null
  }
}

function refusalOf(run: () => unknown): TreadleError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof TreadleError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}
