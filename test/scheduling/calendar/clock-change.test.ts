import { describe, expect, test } from 'vitest'
import { parseCron } from '../../../src/scheduling/calendar/cron/cron.ts'

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
    [
      'in the gap of Lord Howe, shown twice in autumn',
      'Australia/Lord_Howe',
      '45 1 * * *',
      '04-03T20:00Z',
      ['04-04T14:45Z', '04-05T15:15Z'],
    ],
    [
      'before, in and after Ramadan',
      'Africa/Casablanca',
      '30 2 * * *',
      '02-13T12:00Z',
      ['02-14T01:30Z', '02-15T01:30Z', '02-16T02:30Z'],
    ],
    [
      'at the end of Ramadan',
      'Africa/Casablanca',
      '30 2 * * *',
      '03-20T12:00Z',
      ['03-21T02:30Z', '03-22T02:00Z', '03-23T01:30Z'],
    ],
    [
      'in the gap of two hours',
      'Antarctica/Troll',
      '30 1 * * *',
      '03-27T12:00Z',
      ['03-28T01:30Z', '03-29T01:00Z', '03-29T23:30Z'],
    ],
    [
      'in two hours shown twice',
      'Antarctica/Troll',
      '30 1 * * *',
      '10-23T12:00Z',
      ['10-23T23:30Z', '10-24T23:30Z', '10-26T01:30Z'],
    ],
    [
      'on the midnight that Cairo skips',
      'Africa/Cairo',
      '0 0 * * *',
      '04-22T12:00Z',
      ['04-22T22:00Z', '04-23T22:00Z', '04-24T21:00Z'],
    ],
    [
      'on the midnight that Beirut skips',
      'Asia/Beirut',
      '15 0 * * *',
      '03-27T12:00Z',
      ['03-27T22:15Z', '03-28T22:00Z', '03-29T21:15Z'],
    ],
    [
      'in the hour before midnight that Beirut repeats',
      'Asia/Beirut',
      '15 23 * * *',
      '10-23T12:00Z',
      ['10-23T20:15Z', '10-24T20:15Z', '10-25T21:15Z'],
    ],
    ['only on the Sunday of the change', 'Europe/Paris', '30 2 * * 0', '03-28T00:00Z', ['03-29T01:00Z', '04-05T00:30Z']],
  ])('runs once, %s', (_, timezone, expression, after, expected) => {
    expect(occurrencesOf(expression, timezone, after, expected.length)).toEqual(expected)
  })
})

describe('X13: a fixed-time job in the past', () => {
  test.each([
    [
      'skipped at a minute past midnight',
      'America/St_Johns',
      '5 0 * * *',
      '2010-03-13T00:00Z',
      ['2010-03-13T03:35Z', '2010-03-14T03:31Z', '2010-03-15T02:35Z'],
    ],
    [
      'repeated at a minute past midnight, on the day before',
      'America/St_Johns',
      '30 23 * * *',
      '2010-11-06T00:00Z',
      ['2010-11-06T02:00Z', '2010-11-07T02:00Z', '2010-11-08T03:00Z'],
    ],
    [
      'on a midnight that was skipped',
      'America/Sao_Paulo',
      '0 0 * * *',
      '2018-11-03T00:00Z',
      ['2018-11-03T03:00Z', '2018-11-04T03:00Z', '2018-11-05T02:00Z'],
    ],
    [
      'in the last hour of a day that was shown twice',
      'America/Sao_Paulo',
      '30 23 * * *',
      '2018-02-17T00:00Z',
      ['2018-02-17T01:30Z', '2018-02-18T01:30Z', '2018-02-19T02:30Z'],
    ],
    [
      'on a day that was left out, when the next one begins',
      'Pacific/Apia',
      '30 2 * * *',
      '2011-12-29T00:00Z',
      ['2011-12-29T12:30Z', '2011-12-30T10:00Z', '2011-12-30T12:30Z', '2011-12-31T12:30Z'],
    ],
    [
      'on the date alone that was left out',
      'Pacific/Apia',
      '0,30 2,14 30 12 *',
      '2011-12-01T00:00Z',
      ['2011-12-30T10:00Z', '2012-12-29T12:00Z', '2012-12-29T12:30Z'],
    ],
    [
      'on a day that was shown twice',
      'Pacific/Kwajalein',
      '30 12 * * *',
      '1969-09-29T06:00Z',
      ['1969-09-30T01:30Z', '1969-10-02T00:30Z', '1969-10-03T00:30Z'],
    ],
  ])('runs once, %s', (_, timezone, expression, after, expected) => {
    expect(pastOccurrencesOf(expression, timezone, after, expected.length)).toEqual(expected)
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

  test('has the first showing of a time before the second one of an earlier time, on the only date that it names', () => {
    const schedule = parseCron('*/30 30 2 25 10 *', 'Europe/Paris')
    expect(schedule.previous(Date.parse('2026-10-25T01:10:00Z'))).toBe(Date.parse('2026-10-25T00:30:30Z'))
  })

  test('has every second of the days on which clocks change', () => {
    const schedule = parseCron('* * * * * *', 'Europe/Paris')
    for (const change of ['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z'].map(Date.parse)) {
      for (const at of [change - 1_000, change, change + 1_000]) expect(schedule.next(at - 1)).toBe(at)
    }
  })
})

function occurrencesOf(expression: string, timezone: string, after: string, count: number): string[] {
  return pastOccurrencesOf(expression, timezone, `2026-${after}`, count).map((at) => at.slice('2026-'.length))
}

/** The occurrences after an instant, which must be the same ones backwards. */
function pastOccurrencesOf(expression: string, timezone: string, after: string, count: number): string[] {
  const schedule = parseCron(expression, timezone)
  const found: number[] = []
  for (let at = schedule.next(Date.parse(after)); at !== null && found.length < count; at = schedule.next(at)) found.push(at)
  const backwards = found.map((_, index) => schedule.previous(found[index + 1] ?? (found.at(-1) as number) + 1))
  expect(backwards).toEqual(found)
  expect(found.filter((at) => !schedule.matches(at))).toEqual([])
  return found.map((at) => new Date(at).toISOString().replace(':00.000Z', 'Z'))
}
