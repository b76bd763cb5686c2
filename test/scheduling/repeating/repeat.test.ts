import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadDriver } from '../../../src/engines/sqlite/file/driver.ts'
import { parseRepeat } from '../../../src/scheduling/repeating/repeat.ts'
import type { EndedRun } from '../../../src/scheduling/schedule.ts'
import { words } from '../saying/said.ts'

const at = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
const text = (instantMs: number) => new Date(instantMs).toISOString().slice(0, 19).replace('T', ' ')
const refusal = (message: string) =>
  expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) })

describe('a repeat', () => {
  test.each([
    ['SCHEDULED, +1 HOUR', '2026-11-15 14:00:00'],
    ['STARTED, +1 HOUR', '2026-11-15 14:15:00'],
    ['FINISHED, +1 HOUR', '2026-11-15 14:45:00'],
  ])('R12: %s counts from its base', (repeat, expected) => {
    const run: EndedRun = {
      scheduledAt: at('2026-11-15 13:00:00'),
      startedAt: at('2026-11-15 13:15:00'),
      finishedAt: at('2026-11-15 13:45:00'),
    }
    expect(text(parseRepeat(repeat).following(run))).toBe(expected)
  })

  test.each([
    ['FINISHED, +1 DAY, START OF DAY, +4 HOURS', '2026-11-15 13:45:00', '2026-11-16 04:00:00'],
    ['FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS', '2026-11-15 13:45:00', '2026-11-16 06:00:00'],
    ['FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS', '2026-11-16 06:10:00', '2026-11-23 06:00:00'],
    ['FINISHED, WEEKDAY 0, +1 SECOND', '2026-11-15 13:45:00', '2026-11-15 13:45:01'],
    ['FINISHED, +1 HOUR, START OF HOUR', '2026-11-15 13:45:00', '2026-11-15 14:00:00'],
    ['FINISHED, START OF MONTH, +1 MONTH', '2026-12-15 13:45:00', '2027-01-01 00:00:00'],
    ['FINISHED, START OF YEAR, -1 DAY', '2026-12-15 13:45:00', '2025-12-31 00:00:00'],
    ['FINISHED, +1 MONTH', '2027-01-31 10:00:00', '2027-03-03 10:00:00'],
    ['FINISHED, +1 MONTH', '2028-01-31 10:00:00', '2028-03-02 10:00:00'],
    ['FINISHED, -1 MONTH', '2027-03-31 10:00:00', '2027-03-03 10:00:00'],
    ['FINISHED, -14 MONTHS', '2027-01-15 10:00:00', '2025-11-15 10:00:00'],
    ['FINISHED, +1 YEAR', '2028-02-29 10:00:00', '2029-03-01 10:00:00'],
    ['FINISHED, +99999999 SECONDS', '2026-11-15 13:45:00', '2030-01-15 23:31:39'],
  ])('R13, X36: %s leads from %s to %s', (repeat, from, to) => {
    expect(text(parseRepeat(repeat).next(at(from)))).toBe(to)
  })

  test('X36: drops fractions of a second', () => {
    expect(parseRepeat('FINISHED, +90 SECONDS').next(at('2026-11-15 13:45:00.999'))).toBe(at('2026-11-15 13:46:30'))
  })

  test.each([
    ['HOURLY', 'FINISHED, +1 HOUR'],
    ['daily', 'FINISHED, +1 DAY'],
    ['Weekly', 'FINISHED, +7 DAYS'],
  ])('R14, X7: %s is %s', (word, repeat) => {
    expect(parseRepeat(word)).toMatchObject({ expression: repeat, base: 'FINISHED' })
  })

  test('X7: takes another table of words', () => {
    const canned = { HOURLY: 'FINISHED, +1 HOUR, START OF HOUR' }
    expect(parseRepeat('hourly', canned).expression).toBe('FINISHED, +1 HOUR, START OF HOUR')
    expect(() => parseRepeat('DAILY', canned)).toThrowError(refusal('or one of HOURLY'))
  })

  test.each([
    ['finished, +1 minute', 'FINISHED, +1 MINUTE'],
    ['FINISHED,+1 DAY', 'FINISHED, +1 DAY'],
    ['FINISHED,,+1 DAY', 'FINISHED, +1 DAY'],
    ['  FINISHED,   +1 DAY,', 'FINISHED, +1 DAY'],
    ['Scheduled, -3 days, Start Of Day', 'SCHEDULED, -3 DAYS, START OF DAY'],
  ])('R16: %j is written %s', (given, expression) => {
    expect(parseRepeat(given)).toMatchObject({ kind: 'repeat', expression, timezone: 'UTC' })
  })

  test.each<[string, unknown]>([
    ['nothing', ''],
    ['no base', '+1 HOUR'],
    ['no modifier', 'FINISHED'],
    ['another base', 'CREATED, +1 HOUR'],
    ['a number without a sign', 'FINISHED, 1 HOUR'],
    ['two spaces', 'FINISHED, +1  HOUR'],
    ['a space at the end', 'FINISHED, +1 HOUR '],
    ['a fraction', 'FINISHED, +1.5 HOURS'],
    ['weeks', 'FINISHED, +1 WEEK'],
    ['the start of a week', 'FINISHED, +7 DAYS, START OF WEEK'],
    ['a weekday that is none', 'FINISHED, WEEKDAY 7'],
    ['a modifier of the zone', 'FINISHED, +1 HOUR, LOCALTIME'],
    ['an offset of time', 'FINISHED, +01:00'],
    ['four digits', 'FINISHED, +1000 MINUTES'],
    ['nine digits of seconds', 'FINISHED, +100000000 SECONDS'],
    ['a canned word among others', 'DAILY, +1 HOUR'],
    ['a property of every object', 'constructor'],
    ['a number', 60],
    ['too much', `FINISHED${', +1 HOUR'.repeat(200)}`],
  ])('is refused with %s', (_, given) => {
    expect(() => parseRepeat(given as string)).toThrowError(refusal('A repeat is a base (SCHEDULED, STARTED or FINISHED)'))
  })

  test('is refused where it leaves the calendar', () => {
    const repeat = parseRepeat(`FINISHED${', +999 YEARS'.repeat(9)}`)
    expect(() => repeat.next(at('2026-11-15 13:45:00'))).toThrowError(refusal('"+999 YEARS" leads out of the years 0 to 9999'))
  })

  test('explains itself', () => {
    const { text: sentence, occurrences } = parseRepeat('FINISHED, +1 HOUR').explain({
      from: at('2026-11-15 13:45:00'),
      count: 2,
    })
    expect(sentence).not.toBe('')
    expect(occurrences.map((occurrence) => text(occurrence.at))).toEqual(['2026-11-15 14:45:00', '2026-11-15 15:45:00'])
  })
})

describe('X36: modifiers mean what they mean to SQLite', () => {
  test('from any moment, in any order', async () => {
    const Database = await loadDriver()
    const database = new Database(':memory:')
    try {
      fc.assert(
        fc.property(moments(), modifierLists(), (momentMs, modifiers) => {
          const sql = dateSql(modifiers)
          const row = database.prepare(`SELECT ${sql} AS date`).get(text(momentMs)) as { date: string }
          expect(text(parseRepeat(`FINISHED, ${modifiers.join(', ')}`).next(momentMs))).toBe(row.date)
        }),
        { numRuns: 3_000, seed: 36 },
      )
    } finally {
      database.close()
    }
  })

  /** Random ones, and the days around the ends of months and leap days, where the rules differ. */
  function moments(): fc.Arbitrary<number> {
    const ends = fc
      .record({
        year: fc.integer({ min: 1_970, max: 2_110 }),
        month: fc.integer({ min: 0, max: 12 }),
        day: fc.integer({ min: -3, max: 2 }),
      })
      .map(({ year, month, day }) => Date.UTC(year, month, day, 23, 59, 58, 500))
    return fc.oneof(fc.integer({ min: 0, max: at('2110-01-01 00:00:00') }), ends)
  }

  function modifierLists(): fc.Arbitrary<readonly string[]> {
    const sign = fc.constantFrom('+', '-')
    const shift = fc
      .tuple(sign, fc.integer({ min: 0, max: 999 }), fc.constantFrom('MINUTE', 'HOURS', 'DAY', 'DAYS', 'MONTHS'))
      .map(([plus, count, unit]) => `${plus}${count} ${unit}`)
    const months = fc.tuple(sign, fc.integer({ min: 1, max: 14 })).map(([plus, count]) => `${plus}${count} MONTH`)
    const years = fc.tuple(sign, fc.integer({ min: 0, max: 100 })).map(([plus, count]) => `${plus}${count} YEARS`)
    const seconds = fc.tuple(sign, fc.integer({ min: 0, max: 99_999_999 })).map(([plus, count]) => `${plus}${count} SECONDS`)
    const starts = fc.constantFrom('START OF DAY', 'START OF MONTH', 'START OF YEAR', 'START OF HOUR')
    const weekday = fc.integer({ min: 0, max: 6 }).map((day) => `WEEKDAY ${day}`)
    return fc.array(fc.oneof(shift, months, years, seconds, starts, weekday), { minLength: 1, maxLength: 5 })
  }

  /** SQLite knows no start of an hour, which is the same as a text without minutes. */
  function dateSql(modifiers: readonly string[]): string {
    let sql = '?'
    let waiting: string[] = []
    const apply = () => `datetime(${[sql, ...waiting.map((modifier) => `'${modifier}'`)].join(', ')})`
    for (const modifier of modifiers) {
      if (modifier !== 'START OF HOUR') {
        waiting.push(modifier)
        continue
      }
      sql = `strftime('%Y-%m-%d %H:00:00', ${apply()})`
      waiting = []
    }
    return apply()
  }
})

describe('the repeat of a job', () => {
  test('is its schedule', () => {
    expect(words().repeat('daily').result).toMatchObject({ kind: 'repeat', expression: 'FINISHED, +1 DAY', timezone: 'UTC' })
    expect(words().timezone('UTC').repeat('DAILY').result).toMatchObject({ kind: 'repeat' })
  })

  test.each([
    'FINISHED, START OF DAY',
    'SCHEDULED, -1 DAY',
    'STARTED, +0 SECONDS',
    'FINISHED, WEEKDAY 1',
    'SCHEDULED, +1 HOUR, START OF DAY',
    'SCHEDULED, +1 DAY, START OF DAY, -12 HOURS',
    'SCHEDULED, +13 HOURS, START OF DAY, +1 HOUR',
    'SCHEDULED, +59 MINUTES, START OF HOUR',
    'SCHEDULED, +28 DAYS, START OF MONTH',
    'SCHEDULED, +1 MONTH, -28 DAYS',
    'SCHEDULED, +365 DAYS, START OF YEAR',
    'SCHEDULED, +1 YEAR, -366 DAYS',
  ])('is refused where it may not lead into the future: %s', (repeat) => {
    expect(parseRepeat(repeat).expression).toBe(repeat)
    expect(() => words().repeat(repeat)).toThrowError(refusal(`repeat('${repeat}') would not lead into the future from a run at`))
  })

  test.each([
    'SCHEDULED, +1 SECOND',
    'SCHEDULED, +1 DAY, START OF DAY',
    'SCHEDULED, +1 HOUR, START OF HOUR',
    'SCHEDULED, +1 DAY, WEEKDAY 1',
    'SCHEDULED, START OF MONTH, +1 MONTH',
    'SCHEDULED, +1 MONTH, -27 DAYS',
    'SCHEDULED, +366 DAYS, START OF YEAR',
  ])('is accepted where it always does: %s', (repeat) => {
    expect(words().repeat(repeat).result).toMatchObject({ expression: repeat })
  })

  test('that is accepted leads into the future from any moment', () => {
    const accepted = (repeat: string) => {
      try {
        return words().repeat(repeat).result !== null
      } catch {
        return false
      }
    }
    const step = fc
      .tuple(fc.integer({ min: -40, max: 99 }), fc.constantFrom('MINUTES', 'HOURS', 'DAYS', 'MONTHS'))
      .map(([count, unit]) => `${count < 0 ? '-' : '+'}${Math.abs(count)} ${unit}`)
    const other = fc.constantFrom('START OF HOUR', 'START OF DAY', 'START OF MONTH', 'START OF YEAR', 'WEEKDAY 0', 'WEEKDAY 3')
    const repeats = fc
      .array(fc.oneof(step, other), { minLength: 1, maxLength: 4 })
      .map((modifiers) => `SCHEDULED, ${modifiers.join(', ')}`)
      .filter(accepted)
    const moments = fc.array(fc.integer({ min: at('1999-01-01 00:00:00'), max: at('2060-01-01 00:00:00') }), {
      minLength: 300,
      maxLength: 300,
    })
    fc.assert(
      fc.property(repeats, moments, (repeat, momentsMs) => {
        const { next } = parseRepeat(repeat)
        for (const momentMs of momentsMs) expect(next(momentMs)).toBeGreaterThan(momentMs)
      }),
      { numRuns: 100, seed: 7 },
    )
  })

  test('is refused at the call where it is malformed', () => {
    expect(() => words().repeat('every hour')).toThrowError(refusal('got "every hour"'))
  })

  test.each([
    ['a frequency', words().daily().repeat('DAILY'), 'repeat() counts from the run before, so daily() cannot be added'],
    ['a restriction', words().repeat('DAILY').weekdays(), 'so weekdays() cannot be added'],
    ['an object', words().repeat('DAILY').schedule({ minutes: 1 }), 'so schedule() cannot be added'],
    [
      'a time zone',
      words().repeat('DAILY').timezone('Europe/Paris'),
      "repeat() counts in UTC, so timezone('Europe/Paris') cannot",
    ],
    ['another repeat', words().repeat('DAILY').repeat('HOURLY'), 'repeat() was called twice'],
  ])('is refused with %s', (_, said, message) => {
    expect(() => said.result).toThrowError(refusal(message))
  })
})
