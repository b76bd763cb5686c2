import { describe, expect, test } from 'vitest'
import { parseCron } from '../../src/scheduling/cron.ts'

// In 2026 Paris skips 02:00-03:00 on 29 March (at 01:00Z) and shows 02:00-03:00 twice on 25 October (again from 01:00Z);
// New York skips 02:00-03:00 on 8 March (at 07:00Z) and shows 01:00-02:00 twice on 1 November (again from 06:00Z).

describe('X13: a fixed-time job', () => {
  test.each([
    [
      'before, on and after the spring day',
      'Europe/Paris',
      '30 2 * * *',
      '03-28T00:00Z',
      ['03-28T01:30Z', '03-29T01:00Z', '03-30T00:30Z'],
    ],
    ['at the first skipped moment', 'Europe/Paris', '0 2 * * *', '03-28T12:00Z', ['03-29T01:00Z', '03-30T00:00Z']],
    ['at the end of the gap', 'Europe/Paris', '0 3 * * *', '03-28T12:00Z', ['03-29T01:00Z', '03-30T01:00Z']],
    [
      'at skipped times that fall together',
      'Europe/Paris',
      '0,30 2 * * *',
      '03-28T12:00Z',
      ['03-29T01:00Z', '03-30T00:00Z', '03-30T00:30Z'],
    ],
    [
      'at a skipped and another time',
      'Europe/Paris',
      '0 2,14 * * *',
      '03-28T14:00Z',
      ['03-29T01:00Z', '03-29T12:00Z', '03-30T00:00Z'],
    ],
    [
      'before, on and after the autumn day',
      'Europe/Paris',
      '30 2 * * *',
      '10-24T00:00Z',
      ['10-24T00:30Z', '10-25T00:30Z', '10-26T01:30Z'],
    ],
    ['asked in the second showing', 'Europe/Paris', '45 2 * * *', '10-25T01:10Z', ['10-26T01:45Z']],
    ['asked in the first showing', 'Europe/Paris', '45 2 * * *', '10-25T00:10Z', ['10-25T00:45Z', '10-26T01:45Z']],
    [
      'at several repeated times',
      'Europe/Paris',
      '0,30 2 * * *',
      '10-24T12:00Z',
      ['10-25T00:00Z', '10-25T00:30Z', '10-26T01:00Z'],
    ],
    ['right after the repeated hour', 'Europe/Paris', '0 3 * * *', '10-24T12:00Z', ['10-25T02:00Z', '10-26T02:00Z']],
    [
      'in spring across the ocean',
      'America/New_York',
      '30 2 * * *',
      '03-07T00:00Z',
      ['03-07T07:30Z', '03-08T07:00Z', '03-09T06:30Z'],
    ],
    [
      'in autumn across the ocean',
      'America/New_York',
      '30 1 * * *',
      '10-31T00:00Z',
      ['10-31T05:30Z', '11-01T05:30Z', '11-02T06:30Z'],
    ],
    [
      'on a midnight that is skipped',
      'America/Santiago',
      '0 0 * * *',
      '09-05T00:00Z',
      ['09-05T04:00Z', '09-06T04:00Z', '09-07T03:00Z'],
    ],
    ['in a gap of half an hour', 'Australia/Lord_Howe', '15 2 * * *', '10-02T20:00Z', ['10-03T15:30Z', '10-04T15:15Z']],
    ['only on the Sunday of the change', 'Europe/Paris', '30 2 * * 0', '03-28T00:00Z', ['03-29T01:00Z', '04-05T00:30Z']],
  ])('runs once, %s', (_, timezone, expression, after, expected) => {
    expect(occurrencesOf(expression, timezone, after, expected.length)).toEqual(expected)
  })
})

describe('X13: a wildcard job', () => {
  test.each([
    [
      'every half hour in spring',
      'Europe/Paris',
      '*/30 * * * *',
      '03-29T00:10Z',
      ['03-29T00:30Z', '03-29T01:00Z', '03-29T01:30Z'],
    ],
    [
      'every half hour in autumn',
      'Europe/Paris',
      '*/30 * * * *',
      '10-25T00:10Z',
      ['10-25T00:30Z', '10-25T01:00Z', '10-25T01:30Z', '10-25T02:00Z'],
    ],
    ['hourly in spring', 'America/New_York', '5 * * * *', '03-08T05:30Z', ['03-08T06:05Z', '03-08T07:05Z', '03-08T08:05Z']],
    ['hourly in autumn', 'America/New_York', '5 * * * *', '11-01T04:30Z', ['11-01T05:05Z', '11-01T06:05Z', '11-01T07:05Z']],
    [
      'within one repeated hour',
      'Europe/Paris',
      '*/30 2 * * *',
      '10-24T12:00Z',
      ['10-25T00:00Z', '10-25T00:30Z', '10-25T01:00Z', '10-25T01:30Z', '10-26T01:00Z'],
    ],
    [
      'from the end of the first showing',
      'Europe/Paris',
      '*/30 2 * * *',
      '10-25T00:50Z',
      ['10-25T01:00Z', '10-25T01:30Z', '10-26T01:00Z'],
    ],
    [
      'on a date that only the second showing still has this year',
      'Europe/Paris',
      '*/30 2 25 10 *',
      '10-25T00:50Z',
      ['10-25T01:00Z', '10-25T01:30Z'],
    ],
    ['within one skipped hour', 'Europe/Paris', '*/30 2 * * *', '03-28T12:00Z', ['03-30T00:00Z', '03-30T00:30Z']],
    ['on a day far behind the change', 'America/New_York', '*/30 0 20 12 *', '03-07T00:00Z', ['12-20T05:00Z', '12-20T05:30Z']],
  ])('follows elapsed time, %s', (_, timezone, expression, after, expected) => {
    expect(occurrencesOf(expression, timezone, after, expected.length)).toEqual(expected)
  })

  test('has every second of the days on which clocks change', () => {
    const schedule = parseCron('* * * * * *', 'Europe/Paris')
    for (const change of ['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z'].map(Date.parse)) {
      for (const at of [change - 1_000, change, change + 1_000]) expect(schedule.next(at - 1)).toBe(at)
    }
  })
})

function occurrencesOf(expression: string, timezone: string, after: string, count: number): string[] {
  const schedule = parseCron(expression, timezone)
  const found: string[] = []
  for (let at = schedule.next(Date.parse(`2026-${after}`)); at !== null && found.length < count; at = schedule.next(at)) {
    found.push(new Date(at).toISOString().slice(5).replace(':00.000Z', 'Z'))
  }
  return found
}
