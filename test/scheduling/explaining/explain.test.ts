import { describe, expect, test } from 'vitest'
import { parseCron } from '../../../src/scheduling/calendar/cron/cron.ts'
import { parseRepeat } from '../../../src/scheduling/repeating/repeat.ts'
import type { ExplainOptions } from '../../../src/scheduling/schedule.ts'

// In 2027 Paris skips 02:00-03:00 on 28 March (at 01:00Z) and shows 02:00-03:00 twice on 31 October (again from 01:00Z).
const beforeSpring = Date.parse('2027-03-26T00:00Z')
const beforeAutumn = Date.parse('2027-10-30T12:00Z')

function shown(expression: string, timezone: string, options: ExplainOptions): [string, string | null][] {
  return parseCron(expression, timezone)
    .explain(options)
    .occurrences.map(({ local, note }) => [local, note])
}

describe('the sentence', () => {
  test.each([
    ['30 2 * * 1-5', 'Europe/Paris', 'At 02:30 from Monday to Friday, Europe/Paris time'],
    ['30 2 * * *', 'UTC', 'At 02:30, UTC'],
    ['0 * * * *', 'Asia/Kolkata', 'Every hour, Asia/Kolkata time'],
    ['*/20 * * * *', 'Asia/Kathmandu', 'Every 20 minutes, Asia/Kathmandu time'],
    ['*/5 * * * 1', 'UTC', 'Every 5 minutes on Monday, UTC'],
    ['*/5 9-16 * * *', 'UTC', 'Every 5 minutes from 09:00 to 16:55, UTC'],
    ['* * * 1 *', 'UTC', 'Every minute in January, UTC'],
  ])('names the zone: %s in %s', (expression, timezone, text) => {
    expect(parseCron(expression, timezone).explain().text).toBe(text)
  })

  test.each([
    ['* * * * *', 'Every minute'],
    ['*/5 * * * *', 'Every 5 minutes'],
    ['*/30 * * * * *', 'Every 30 seconds'],
    ['7,22,37,52 * * * *', 'At minutes 7, 22, 37 and 52 of every hour'],
  ])('is silent about a zone that makes no difference: %s', (expression, text) => {
    expect(parseCron(expression, 'Asia/Kathmandu').explain().text).toBe(text)
  })
})

describe('the occurrences', () => {
  test('are the next five after an instant, on the clock of the zone', () => {
    const { occurrences } = parseCron('0 12 * * *', 'America/New_York').explain({ from: Date.parse('2027-01-01T17:00Z') })
    expect(occurrences.map(({ at }) => new Date(at).toISOString().slice(0, 16))).toEqual([
      '2027-01-02T17:00',
      '2027-01-03T17:00',
      '2027-01-04T17:00',
      '2027-01-05T17:00',
      '2027-01-06T17:00',
    ])
    expect(occurrences[0]).toMatchObject({ local: '2027-01-02 12:00:00 -05:00', note: null })
  })

  test('are as many as asked for', () => {
    expect(shown('0 12 * * *', 'UTC', { from: 0, count: 7 })).toHaveLength(7)
    expect(shown('0 12 * * *', 'UTC', { from: 0, count: 0 })).toEqual([])
  })

  test('are none where nobody says from when on', () => {
    expect(parseCron('0 12 * * *', 'UTC').explain().occurrences).toEqual([])
  })

  test('can be shown on the clock of another zone', () => {
    const from = Date.parse('2027-01-01T00:00Z')
    expect(shown('0 12 * * *', 'UTC', { from, count: 1, zone: 'Asia/Kathmandu' })).toEqual([['2027-01-01 17:45:00 +05:45', null]])
    expect(shown('0 12 * * *', 'UTC', { from, count: 1, zone: 'UTC' })).toEqual([['2027-01-01 12:00:00 +00:00', null]])
  })

  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [8.65e15]])('are refused from %s on', (from) => {
    expect(() => shown('0 12 * * *', 'UTC', { from })).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })

  test.each([[-1], [1.5], [1_001], [Number.NaN]])('are refused in a number of %s', (count) => {
    expect(() => shown('0 12 * * *', 'UTC', { from: 0, count })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })

  test('are refused in an unknown zone', () => {
    const options = { from: 0, zone: 'Europe/Nowhere' }
    expect(() => shown('0 12 * * *', 'UTC', options)).toThrow(expect.objectContaining({ code: 'SCHEDULE_INVALID' }))
  })
})

describe('X13: where the clock skips times, an occurrence says so', () => {
  test('of a fixed time', () => {
    expect(shown('30 2 * * *', 'Europe/Paris', { from: beforeSpring, count: 4 })).toEqual([
      ['2027-03-26 02:30:00 +01:00', null],
      ['2027-03-27 02:30:00 +01:00', null],
      ['2027-03-28 03:00:00 +02:00', '02:30 is skipped on this day: the clock goes from 02:00 to 03:00'],
      ['2027-03-29 02:30:00 +02:00', null],
    ])
  })

  test('of several fixed times, also where one of them comes after the gap', () => {
    const options = { from: Date.parse('2027-03-27T12:00Z'), count: 2 }
    expect(shown('0,30 2,3 * * *', 'Europe/Paris', options)).toEqual([
      ['2027-03-28 03:00:00 +02:00', '02:00 and 02:30 are skipped on this day: the clock goes from 02:00 to 03:00'],
      ['2027-03-28 03:30:00 +02:00', null],
    ])
  })

  test('of elapsed time', () => {
    const options = { from: Date.parse('2027-03-28T00:50Z'), count: 3 }
    expect(shown('*/5 * * * *', 'Europe/Paris', options)).toEqual([
      ['2027-03-28 01:55:00 +01:00', null],
      ['2027-03-28 03:00:00 +02:00', '02:00 to 02:55 are skipped on this day: the clock goes from 02:00 to 03:00'],
      ['2027-03-28 03:05:00 +02:00', null],
    ])
  })

  test('of an hour that is left out, on the next day, also of the first one listed', () => {
    const options = { from: Date.parse('2027-03-28T12:00Z'), count: 2 }
    expect(shown('*/30 2 * * *', 'Europe/Paris', options)).toEqual([
      ['2027-03-29 02:00:00 +02:00', '02:00 and 02:30 are skipped on 2027-03-28: the clock goes from 02:00 to 03:00'],
      ['2027-03-29 02:30:00 +02:00', null],
    ])
  })

  test('but not of occurrences that come later', () => {
    const options = { from: Date.parse('2027-03-30T12:00Z'), count: 1 }
    expect(shown('30 2 * * *', 'Europe/Paris', options)).toEqual([['2027-03-31 02:30:00 +02:00', null]])
  })

  test('but not of times on other days', () => {
    const options = { from: Date.parse('2027-03-27T12:00Z'), count: 1 }
    expect(shown('30 2 * * 1', 'Europe/Paris', options)).toEqual([['2027-03-29 02:30:00 +02:00', null]])
    expect(shown('30 4 * * *', 'Europe/Paris', options)).toEqual([['2027-03-28 04:30:00 +02:00', null]])
  })
})

describe('X13: where the clock shows times twice, an occurrence says so', () => {
  test('of a fixed time', () => {
    expect(shown('30 2 * * *', 'Europe/Paris', { from: beforeAutumn, count: 2 })).toEqual([
      ['2027-10-31 02:30:00 +02:00', '02:30 comes twice on this day: the first one counts'],
      ['2027-11-01 02:30:00 +01:00', null],
    ])
  })

  test('of elapsed time', () => {
    const options = { from: Date.parse('2027-10-30T23:30Z'), count: 3 }
    expect(shown('0 * * * *', 'Europe/Paris', options)).toEqual([
      ['2027-10-31 02:00:00 +02:00', '02:00 comes twice on this day: this is the first one'],
      ['2027-10-31 02:00:00 +01:00', '02:00 comes twice on this day: this is the second one'],
      ['2027-10-31 03:00:00 +01:00', null],
    ])
  })

  test('with the place whose clock it is, where another one is shown', () => {
    const options = { from: beforeAutumn, count: 1, zone: 'UTC' }
    expect(shown('30 2 * * *', 'Europe/Paris', options)).toEqual([
      ['2027-10-31 00:30:00 +00:00', 'On the clock of Europe/Paris, 02:30 comes twice on this day: the first one counts'],
    ])
  })
})

describe('a repeat in words', () => {
  test.each([
    ['FINISHED, +1 HOUR', '1 hour after the last run finished, UTC'],
    ['STARTED, +90 SECONDS', '90 seconds after the last run started, UTC'],
    ['SCHEDULED, +900 SECONDS', '15 minutes after the last run was due, UTC'],
    ['SCHEDULED, +86400 SECONDS', '24 hours after the last run was due, UTC'],
    ['SCHEDULED, +1 DAY, START OF DAY', '1 day after the last run was due, at the start of that day, UTC'],
    [
      'FINISHED, +1 DAY, START OF DAY, +4 HOURS',
      '1 day after the last run finished, at the start of that day, 4 hours later, UTC',
    ],
    [
      'FINISHED, +1 MONTH, START OF MONTH, -2 DAYS',
      '1 month after the last run finished, at the start of that month, 2 days earlier, UTC',
    ],
    ['FINISHED, -1 HOUR, +1 DAY', '1 hour before the last run finished, 1 day later, UTC'],
    ['FINISHED, START OF DAY, +1 DAY', 'At the start of the day on which the last run finished, 1 day later, UTC'],
    [
      'SCHEDULED, +1 DAY, WEEKDAY 0',
      '1 day after the last run was due, on that day if it is a Sunday, else on the next Sunday, UTC',
    ],
    [
      'STARTED, WEEKDAY 1, +1 HOUR',
      'On the day on which the last run started if it is a Monday, else on the next Monday, 1 hour later, UTC',
    ],
    ['HOURLY', '1 hour after the last run finished, UTC'],
  ])('%s', (text, words) => {
    expect(parseRepeat(text).explain().text).toBe(words)
  })

  test('has estimates for occurrences, and says so', () => {
    const { occurrences } = parseRepeat('FINISHED, +1 DAY').explain({
      from: Date.parse('2027-01-01T12:00Z'),
      count: 2,
      zone: 'Europe/Paris',
    })
    const note = 'An estimate: as if a run began when it was due and took no time'
    expect(occurrences).toEqual([
      { at: Date.parse('2027-01-02T12:00Z'), local: '2027-01-02 13:00:00 +01:00', note },
      { at: Date.parse('2027-01-03T12:00Z'), local: '2027-01-03 13:00:00 +01:00', note },
    ])
  })

  test('that stands still has no occurrences', () => {
    expect(parseRepeat('FINISHED, START OF DAY').explain({ from: 1_000 }).occurrences).toEqual([])
  })

  test('has no occurrences where nobody says from when on', () => {
    expect(parseRepeat('FINISHED, +1 DAY').explain().occurrences).toEqual([])
  })
})
