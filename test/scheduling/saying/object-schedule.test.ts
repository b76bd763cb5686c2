import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CalendarObject } from '../../../src/scheduling/saying/object-schedule.ts'
import { runs, words } from './said.ts'

describe('an object', () => {
  test('Y5: runs where all of its keys fit', () => {
    const object: CalendarObject = { minutes: '*/20', hours: '9-10', mday: 1, wday: '1,3-5', mon: 2, year: 2_027 }
    const firsts = ['2027-02-01T09:00', '2027-02-01T09:20', '2027-02-01T09:40', '2027-02-01T10:00']
    expect(runs(words().schedule(object), '2026-11-15T00:00:00Z', 4)).toEqual(firsts)
    expect(words().schedule(object).result?.next(Date.parse('2027-02-01T10:40:00Z'))).toBeNull()
  })

  test('X9: joins days of the month and of the week by "and"', () => {
    const fridays13 = ['2026-11-13T00:00', '2027-08-13T00:00', '2028-10-13T00:00']
    expect(runs(words().schedule({ minutes: 0, hours: 0, mday: 13, wday: 5 }), '2026-11-01T00:00:00Z', 3)).toEqual(fridays13)
  })

  test('Y5: runs in every minute of the hours that it names, and at second 0', () => {
    expect(runs(words().schedule({ hours: 2 }), '2026-11-15T02:58:30Z', 2)).toEqual(['2026-11-15T02:59', '2026-11-16T02:00'])
    expect(words().schedule({ hours: 2 }).result?.expression).toBe('0 * 2 * * *')
  })

  test('can name seconds', () => {
    expect(words().schedule({ seconds: '*/10', minutes: 5 }).result?.expression).toBe('*/10 5 * * * *')
    expect(words().schedule({ seconds: '*' }).result?.expression).toBe('* * * * * *')
  })

  test('X10: a star with a step names the values that the step divides', () => {
    const days = ['2026-11-02T00:00', '2026-11-04T00:00', '2026-11-06T00:00']
    expect(runs(words().schedule({ minutes: 0, hours: 0, mday: '*/2' }), '2026-11-01T00:00:00Z', 3)).toEqual(days)
    const months = ['2026-12-01T00:00', '2027-03-01T00:00', '2027-06-01T00:00']
    expect(runs(words().schedule({ minutes: 0, hours: 0, mday: 1, mon: '*/3' }), '2026-11-01T00:00:00Z', 3)).toEqual(months)
    const years = ['2028-01-01T00:00', '2032-01-01T00:00']
    expect(runs(words().schedule({ minutes: 0, hours: 0, mday: 1, mon: 1, year: '*/4' }), '2026-11-01T00:00:00Z', 2)).toEqual(
      years,
    )
  })

  test.each<[string, CalendarObject, string]>([
    ['X32: a range in a list', { minutes: 0, hours: 0, wday: '1,3-5' }, '0 0 0 * * 1,3-5'],
    ['X32: day, which is mday', { minutes: 0, hours: 0, day: 5 }, '0 0 0 5 * *'],
    ['Y6: a range with a step', { minutes: '10-50/20' }, '0 10-50/20 * * * *'],
    ['a list', { minutes: 0, hours: [9, '12-14'] }, '0 0 9,12-14 * * *'],
    ['spaces', { minutes: ' 0 , 30 ', hours: '9 - 17' }, '0 0,30 9-17 * * *'],
    ['names', { minutes: 0, hours: 0, wday: 'mon-fri', mon: 'JAN' }, '0 0 0 * JAN mon-fri'],
    ['X8: the other Sunday', { minutes: 0, hours: 0, wday: 7 }, '0 0 0 * * 7'],
    ['a key that was not given', { minutes: 0, hours: undefined as never }, '0 0 * * * *'],
  ])('takes %s', (_, object, expression) => {
    expect(words().schedule(object).result?.expression).toBe(expression)
  })

  test('can be narrowed down like any other frequency', () => {
    const fields = { dayOfWeek: '1-5', minute: '0', windows: [{ from: 32_400, to: 61_200 }], days: 'both' }
    expect(words().schedule({ minutes: 0 }).weekdays().between('09:00', '17:00').result).toMatchObject({ fields })
    expect(words().schedule({ minutes: 0, hours: '*' }).hours([1, 2]).result).toMatchObject({ expression: '0 0 1,2 * * *' })
    expect(words().schedule({ minutes: 0 }).seconds(30).result).toMatchObject({ expression: '30 0 * * * *' })
    expect(words().schedule({ minutes: 0, hours: 2 }).timezone('Europe/Paris').result).toMatchObject({ timezone: 'Europe/Paris' })
  })

  test('is not narrowed down where it has chosen', () => {
    expect(() => words().schedule({ hours: 9 }).hours(10).result).toThrowError(
      expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining('schedule() already says the hour') }),
    )
  })
})

describe('a wrong object is refused at the call', () => {
  test.each<[string, unknown, string]>([
    ['an unknown key', { hour: 9 }, 'unknown option "hour", did you mean "hours"?'],
    ['a value out of range', { hours: 24 }, 'schedule({ hours }) has an invalid hour, "24"'],
    ['a range out of range', { minutes: '50-60' }, 'schedule({ minutes }) has an invalid minute, "50-60"'],
    ['a range that runs backwards', { hours: '17-9' }, 'invalid hour, "17-9"'],
    ['a fraction', { minutes: 1.5 }, '"1.5"'],
    ['a negative number', { mday: -1 }, 'schedule({ mday }) has an invalid day of month, "-1"'],
    ['a step of nothing', { minutes: '*/0' }, '"*/0"'],
    ['a year that is none', { year: 27 }, 'schedule({ year }) has an invalid year, "27"'],
    ['nothing in a list', { minutes: '1,,2' }, '"1,,2"'],
    ['an empty list', { minutes: [] }, 'invalid minute, ""'],
    ['null', { minutes: null }, 'invalid minute, ""'],
    ['an object in an object', { minutes: {} }, 'invalid minute'],
    ['the day of the month twice', { day: 1, mday: 1 }, 'day and mday are two words for the day of the month: keep one of them'],
    ['X25: nothing', {}, 'the object is empty: give it at least one of seconds, minutes, hours, day, mday, wday, mon, year'],
    ['a list of objects', [{ minutes: 1 }], 'schedule(): it takes an object such as'],
    ['a number', 5, 'got 5'],
    ['null itself', null, 'got null'],
  ])('%s', (_, object, message) => {
    expect(() => words().schedule(object as CalendarObject)).toThrowError(
      expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) }),
    )
  })
})

describe('Y6: an object', () => {
  const keys = { minutes: [0, 59], hours: [0, 23], mday: [1, 31], wday: [0, 6], mon: [1, 12], year: [2_020, 2_030] } as const
  const minuteMs = 60_000
  const sight = 600

  test('runs in exactly the minutes that fit all of its patterns, looked at one by one', () => {
    let found = 0
    fc.assert(
      fc.property(objects(), fc.integer({ min: 0, max: 10 * 366 * 1_440 }), (object, minute) => {
        const from = Date.UTC(2_020, 0, 1) + minute * minuteMs
        const next = nextRun(object, from)
        if (next !== null) expect(fitsAll(object, next)).toBe(true)
        const later = Array.from({ length: sight }, (_, index) => from + (index + 1) * minuteMs)
        const expected = later.find((at) => fitsAll(object, at)) ?? null
        expect(next !== null && next <= from + sight * minuteMs ? next : null).toBe(expected)
        if (expected !== null) found++
      }),
      { numRuns: 500, seed: 18 },
    )
    expect(found).toBeGreaterThan(50)
  })

  function objects(): fc.Arbitrary<Record<string, string>> {
    const patterns = Object.entries(keys).map(([key, [lowest, highest]]) => [key, patternsOf(lowest, highest)])
    return fc.record(Object.fromEntries(patterns), { requiredKeys: ['minutes'] }) as fc.Arbitrary<Record<string, string>>
  }

  function patternsOf(lowest: number, highest: number): fc.Arbitrary<string> {
    const value = fc.integer({ min: lowest, max: highest })
    const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
    const step = fc.integer({ min: 1, max: 6 })
    const item = fc.oneof(
      fc.constant('*'),
      value.map(String),
      range,
      step.map((n) => `*/${n}`),
      fc.tuple(range, step).map(([text, n]) => `${text}/${n}`),
    )
    return fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  }

  /** Null also where the object is refused because it would never run. */
  function nextRun(object: CalendarObject, from: number): number | null {
    const said = words().schedule(object)
    try {
      return said.result?.next(from) ?? null
    } catch (error) {
      expect(String(error)).toContain('never runs')
      return null
    }
  }

  function fitsAll(object: Record<string, string>, at: number): boolean {
    const date = new Date(at)
    const parts: Record<string, number> = {
      minutes: date.getUTCMinutes(),
      hours: date.getUTCHours(),
      mday: date.getUTCDate(),
      wday: date.getUTCDay(),
      mon: date.getUTCMonth() + 1,
      year: date.getUTCFullYear(),
    }
    return Object.entries(object).every(([key, pattern]) => fits(pattern, parts[key] as number))
  }

  function fits(pattern: string, value: number): boolean {
    return pattern.split(',').some((item) => {
      const [span = '', step = '1'] = item.split('/')
      const [from, to] = span.split('-')
      if (span === '*') return value % Number(step) === 0
      if (to === undefined) return value === Number(from)
      return value >= Number(from) && value <= Number(to) && (value - Number(from)) % Number(step) === 0
    })
  }
})
