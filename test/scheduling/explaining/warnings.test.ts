import { describe, expect, test } from 'vitest'
import type { CalendarFields } from '../../../src/scheduling/calendar/calendar-fields.ts'
import { calendarSchedule } from '../../../src/scheduling/calendar/calendar-schedule.ts'
import { parseFields } from '../../../src/scheduling/calendar/cron/cron-fields.ts'
import { parseRepeat } from '../../../src/scheduling/repeating/repeat.ts'

const from = Date.parse('2026-11-15T00:00Z')

function warningsOf(expression: string, timezone = 'UTC', fields: Partial<CalendarFields> = {}): readonly string[] {
  return calendarSchedule({ ...parseFields(expression), ...fields }, timezone).explain({ from, count: 0 }).warnings
}

const none: readonly string[] = []

describe('steps that start again', () => {
  test.each([
    [
      '*/7 * * * *',
      '7 minutes starts again every hour: the last gap of each hour is 4 minutes, not 7. For even gaps use a step that divides 60, such as 6 or 10',
    ],
    [
      '0-59/7 * * * *',
      '7 minutes starts again every hour: the last gap of each hour is 4 minutes, not 7. For even gaps use a step that divides 60, such as 6 or 10',
    ],
    [
      '*/7 9-17 * * *',
      '7 minutes starts again every hour: the last gap of each hour is 4 minutes, not 7. For even gaps use a step that divides 60, such as 6 or 10',
    ],
    [
      '*/45 * * * *',
      '45 minutes starts again every hour: the last gap of each hour is 15 minutes, not 45. For even gaps use a step that divides 60, such as 30',
    ],
    [
      '*/59 * * * * *',
      '59 seconds starts again every minute: the last gap of each minute is 1 second, not 59. For even gaps use a step that divides 60, such as 30',
    ],
    [
      '0 */5 * * *',
      '5 hours starts again every day: the last gap of each day is 4 hours, not 5. For even gaps use a step that divides 24, such as 4 or 6',
    ],
    [
      '0 0 1 */5 *',
      '5 months starts again every year: the last gap of each year is 2 months, not 5. For even gaps use a step that divides 12, such as 4 or 6',
    ],
    [
      '0 0 * * */2',
      '2 days starts again every week: the last gap of each week is 1 day, not 2. For even gaps repeat from run to run: SCHEDULED, +2 DAYS',
    ],
    [
      '0 0 */2 * *',
      '2 days starts again every month: the gap at the end of a month is another one. For even gaps repeat from run to run: SCHEDULED, +2 DAYS',
    ],
  ])('%s is warned of', (expression, warning) => {
    expect(warningsOf(expression)).toEqual([`A step of ${warning}`])
  })

  test.each(['*/7 9 * * *', '*/7 9,12 * * *', '0-30/7 * * * *', '*/7 5 * * * *'])(
    '%s has no hour or minute that goes on into the next one, so no gap is uneven',
    (expression) => {
      expect(warningsOf(expression).filter((warning) => warning.includes('starts again'))).toEqual([])
    },
  )

  test('steps that divide are measured from the first value that they name (X10)', () => {
    const fields = { dayOfMonth: '1', month: '*/5', steps: 'divisible' } as const
    expect(warningsOf('0 0 * * *', 'UTC', fields)[0]).toContain('the last gap of each year is 7 months, not 5')
  })

  test.each([
    ['*/5 * * * *'],
    ['*/1 * * * *'],
    ['*/60 * * * *'],
    ['0 */6 * * *'],
    ['0 0 1 */3 *'],
    ['0,7,14 * * * *'],
    ['0 0 */31 * *'],
  ])('%s is not warned of', (expression) => {
    expect(warningsOf(expression)).toEqual(none)
  })
})

describe('days', () => {
  const either =
    'Both a day of month and a day of week are given, and a day that fits either of them counts. For days that fit both use a schedule object; for one of the two leave the other open with *'

  test('that fit either of two fields are warned of (X9)', () => {
    expect(warningsOf('0 0 13 * 5')).toEqual([either])
  })

  test('that fit both fields, or have one, are not', () => {
    expect(warningsOf('0 0 13 * 5', 'UTC', { days: 'both' })).toEqual(none)
    expect(warningsOf('0 0 13 * *')).toEqual(none)
    expect(warningsOf('0 0 * * 5')).toEqual(none)
  })

  const advice = 'For the end of a month use its last day: L in cron, lastDayOfMonth() in a definition'

  test.each([
    ['0 0 31 * *', 'The 31st is missing in February, April, June, September and November: it comes in 7 of 12 months'],
    ['0 0 1,31 * *', 'The 31st is missing in February, April, June, September and November: it comes in 7 of 12 months'],
    ['0 0 31W 2-4 *', 'The 31st is missing in February and April: it comes in 1 of 3 months'],
    ['0 0 30 * *', 'The 30th is missing in February: it comes in 11 of 12 months'],
    ['0 0 29 * *', 'The 29th is missing in February, where it comes in leap years only: it comes in 11 of 12 months'],
    ['0 0 29 2 *', '29 February comes in leap years only'],
  ])('that short months lack are warned of: %s', (expression, warning) => {
    expect(warningsOf(expression)).toEqual([`${warning}. ${advice}`])
  })

  test.each([['0 0 28 * *'], ['0 0 L * *'], ['0 0 31 1,3,5 *'], ['0 0 30 4 *'], ['0 0 1-31 * *'], ['0 0 25-31 * *']])(
    'that all named months have, or as many as they have, are not: %s',
    (expression) => {
      expect(warningsOf(expression)).toEqual(none)
    },
  )

  test('that come a fifth time are warned of, and others not', () => {
    expect(warningsOf('0 0 * * 1#5')).toEqual([
      'Most months have no fifth Monday and are left out. For the last Monday of every month write 1L',
    ])
    expect(warningsOf('0 0 * * 1#4,1L')).toEqual(none)
  })
})

describe('a field that was left open', () => {
  test.each([
    [
      '* 2 * * *',
      'The hour is given and the minute is left open, so this runs 60 times in that hour. For one run give the minute too, such as minute 0',
    ],
    [
      '* 2,14 * * *',
      'The hour is given and the minute is left open, so this runs 60 times in that hour. For one run give the minute too, such as minute 0',
    ],
    [
      '* 30 2 * * *',
      'The minute is given and the second is left open, so this runs 60 times in that minute. For one run give the second too, such as second 0',
    ],
  ])('is warned of: %s', (expression, warning) => {
    expect(warningsOf(expression)).toEqual([warning])
  })

  test.each([['* * * * *'], ['* 9-17 * * *'], ['* * * * * *'], ['* 0-9 * * * *'], ['0 2 * * *'], ['*/5 2 * * *']])(
    'is not seen where more is open, or all is given: %s',
    (expression) => {
      expect(warningsOf(expression)).toEqual(none)
    },
  )

  test('is meant where a window was given', () => {
    expect(warningsOf('* 2 * * *', 'UTC', { windows: [{ from: 7_200, to: 9_000 }] })).toEqual(none)
  })
})

describe('windows', () => {
  const office = [{ from: 9 * 3_600, to: 17 * 3_600 }]

  test('that leave only few times are warned of', () => {
    expect(warningsOf('0 0,12,20 * * *', 'UTC', { windows: office })).toEqual([
      'Only 12:00 lies within the allowed times of day, the others are left out. If that is intended, name only it; otherwise allow more',
    ])
    expect(warningsOf('0 0,9,12,20 * * *', 'UTC', { windows: office })).toEqual([
      'Only 09:00 and 12:00 lie within the allowed times of day, the others are left out. If that is intended, name only them; otherwise allow more',
    ])
  })

  test('that leave many, or all, are not', () => {
    expect(warningsOf('0 * * * *', 'UTC', { windows: office })).toEqual(none)
    expect(warningsOf('0 12 * * *', 'UTC', { windows: office })).toEqual(none)
    expect(warningsOf('0 9,12 * * *', 'UTC', { windows: office })).toEqual(none)
  })
})

describe('zones', () => {
  test.each([
    ['EST', 'EST never has daylight saving time. For the local time of a place use its zone, such as America/New_York'],
    ['mst', 'mst never has daylight saving time. For the local time of a place use its zone, such as America/Denver'],
    ['HST', 'HST never has daylight saving time. For the local time of a place use its zone, such as Pacific/Honolulu'],
    [
      'Etc/GMT+5',
      'Etc/GMT+5 is 5 hours behind UTC: in these names the sign is inverted, and there is no daylight saving time. For the local time of a place use its zone, such as Europe/Paris',
    ],
    [
      'Etc/GMT-1',
      'Etc/GMT-1 is 1 hour ahead of UTC: in these names the sign is inverted, and there is no daylight saving time. For the local time of a place use its zone, such as Europe/Paris',
    ],
  ])('that are no place are warned of: %s', (timezone, warning) => {
    expect(warningsOf('0 12 * * *', timezone)).toEqual([warning])
  })

  test.each([['UTC'], ['Etc/UTC'], ['Etc/GMT+0'], ['Europe/Paris'], ['America/Phoenix']])('%s is not warned of', (timezone) => {
    expect(warningsOf('0 12 * * *', timezone)).toEqual(none)
  })
})

describe('X13: times at which the clock changes', () => {
  const advice = 'Where that matters, choose another time of day, or UTC'
  const spring = 'On some days, such as 2027-03-28, the clock goes from 02:00 to 03:00 and skips'
  const autumn = 'On some days, such as 2027-10-31, the clock goes back from 03:00 to 02:00 and shows'

  test.each([
    ['30 2 * * *', `${spring} 02:30: the run comes at 03:00.`, `${autumn} 02:30 twice: only the first time counts.`],
    [
      '0,30 2 * * *',
      `${spring} 02:00 and 02:30: their runs come as one at 03:00.`,
      `${autumn} 02:00 and 02:30 twice: only the first time counts.`,
    ],
    ['0 */2 * * *', `${spring} 02:00: it is left out.`, `${autumn} 02:00 twice: both times count.`],
    ['*/5 1-4 * * *', `${spring} 02:00 to 02:55: they are left out.`, `${autumn} 02:00 to 02:55 twice: both times count.`],
  ])('are warned of: %s', (expression, ...warnings) => {
    expect(warningsOf(expression, 'Europe/Paris')).toEqual(warnings.map((warning) => `${warning} ${advice}`))
  })

  test.each([
    ['another time', '30 4 * * *', 'Europe/Paris'],
    ['another day', '30 2 * * 1', 'Europe/Paris'],
    ['every hour', '30 * * * *', 'Europe/Paris'],
    ['a zone without changes', '30 2 * * *', 'Asia/Tokyo'],
    ['UTC', '30 2 * * *', 'UTC'],
  ])('are not seen in %s', (_, expression, timezone) => {
    expect(warningsOf(expression, timezone)).toEqual(none)
  })

  test('are warned of in windows', () => {
    const windows = [{ from: 9_000, to: 9_900 }]
    expect(warningsOf('*/15 * * * *', 'Europe/Paris', { windows })).toContain(
      `${spring} 02:30 and 02:45: they are left out. ${advice}`,
    )
  })

  test('are dated by the day that they fall on, where the clock changes at midnight', () => {
    expect(warningsOf('30 0 * * *', 'Africa/Cairo')[0]).toContain(
      'such as 2027-04-30, the clock goes from 00:00 to 01:00 and skips 00:30',
    )
    expect(warningsOf('30 23 * * *', 'Africa/Cairo')[0]).toContain(
      'such as 2027-10-28, the clock goes back from 00:00 to 23:00 and shows 23:30 twice',
    )
  })

  test('are found without a moment to look from', () => {
    const { warnings } = calendarSchedule(parseFields('30 2 * * *'), 'Europe/Paris').explain()
    expect(warnings[0]).toContain('such as 2026-03-29,')
  })
})

describe('the end and the beginning', () => {
  test('a run that is more than four years away is warned of', () => {
    expect(warningsOf('0 0 1 1 *', 'UTC', { year: '*/100', steps: 'divisible' })).toEqual([
      'The first run is more than 4 years away, on 2100-01-01. Check the day, the month and the year',
    ])
    expect(warningsOf('0 0 13 2 5', 'UTC', { days: 'both' })).toEqual([
      'The first run is more than 4 years away, on 2032-02-13. Check the day, the month and the year',
    ])
  })

  test('a run within four years is not', () => {
    expect(warningsOf('0 0 13 2 0', 'UTC', { days: 'both' })).toEqual(none)
  })

  test('years that end are warned of', () => {
    expect(warningsOf('0 0 * * *', 'Europe/Paris', { year: '2027-2028' })).toEqual([
      'The schedule ends with its last year: the last run is at 2028-12-31 00:00:00 +01:00. Omit the year to continue',
    ])
  })

  test('years that have ended are warned of', () => {
    expect(warningsOf('0 0 1 * *', 'UTC', { year: '2020' })).toEqual([
      'The schedule ends with its last year: the last run was at 2020-12-01 00:00:00 +00:00. Omit the year to continue',
    ])
  })

  test('years without an end are not', () => {
    expect(warningsOf('0 0 1 * *', 'UTC', { year: '*/2', steps: 'divisible' })).toEqual(none)
  })
})

describe('a repeat', () => {
  test.each([
    ['FINISHED, +1 MONTH'],
    ['FINISHED, +1 YEAR'],
    ['FINISHED, START OF MONTH, +30 DAYS, +1 MONTH'],
    ['FINISHED, START OF DAY, +1 MONTH'],
  ])('%s may come into a month that it does not mean (X36)', (text) => {
    expect(parseRepeat(text).explain().warnings).toEqual([
      'A day that a month does not have falls into the next month: a month after 31 January is 3 March, or 2 March in a leap year. To stay in the month, go to its start first: START OF MONTH, +1 MONTH',
    ])
  })

  test.each([
    ['FINISHED, +1 DAY'],
    ['FINISHED, START OF MONTH, +1 MONTH'],
    ['FINISHED, START OF YEAR, START OF HOUR, +1 YEAR, +1 MONTH'],
  ])('%s does not', (text) => {
    expect(parseRepeat(text).explain().warnings).toEqual(none)
  })
})
