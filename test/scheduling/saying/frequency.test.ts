import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../../src/scheduling/calendar/cron/cron.ts'
import { runs, type Words, words } from './said.ts'

describe('a frequency', () => {
  test.each<[string, Words, string]>([
    ['everySecond', words().everySecond(), '* * * * * *'],
    ['everyTwoSeconds', words().everyTwoSeconds(), '*/2 * * * * *'],
    ['everyFiveSeconds', words().everyFiveSeconds(), '*/5 * * * * *'],
    ['everyTenSeconds', words().everyTenSeconds(), '*/10 * * * * *'],
    ['everyFifteenSeconds', words().everyFifteenSeconds(), '*/15 * * * * *'],
    ['everyTwentySeconds', words().everyTwentySeconds(), '*/20 * * * * *'],
    ['everyThirtySeconds', words().everyThirtySeconds(), '*/30 * * * * *'],
    ['everyXSeconds', words().everyXSeconds(12), '*/12 * * * * *'],
    ['everyXSeconds of one', words().everyXSeconds(1), '* * * * * *'],
    ['everyMinute', words().everyMinute(), '0 * * * * *'],
    ['everyMinute of null, the default', words().everyMinute(null), '0 * * * * *'],
    ['everyMinute with a number', words().everyMinute(5), '0 */5 * * * *'],
    ['everyTwoMinutes', words().everyTwoMinutes(), '0 */2 * * * *'],
    ['everyThreeMinutes', words().everyThreeMinutes(), '0 */3 * * * *'],
    ['everyFourMinutes', words().everyFourMinutes(), '0 */4 * * * *'],
    ['everyFiveMinutes', words().everyFiveMinutes(), '0 */5 * * * *'],
    ['everyTenMinutes', words().everyTenMinutes(), '0 */10 * * * *'],
    ['everyFifteenMinutes', words().everyFifteenMinutes(), '0 */15 * * * *'],
    ['everyTwentyMinutes', words().everyTwentyMinutes(), '0 */20 * * * *'],
    ['everyThirtyMinutes', words().everyThirtyMinutes(), '0 */30 * * * *'],
    ['everyXMinutes', words().everyXMinutes(15), '0 */15 * * * *'],
    ['everyXMinutes of one', words().everyXMinutes(1), '0 * * * * *'],
    ['hourly', words().hourly(), '0 0 * * * *'],
    ['everyHour', words().everyHour(), '0 0 * * * *'],
    ['hourlyAt', words().hourlyAt(17), '0 17 * * * *'],
    ['hourlyAt several minutes', words().hourlyAt([45, 15]), '0 15,45 * * * *'],
    ['everyOddHour', words().everyOddHour(), '0 0 1-23/2 * * *'],
    ['everyTwoHours', words().everyTwoHours(), '0 0 */2 * * *'],
    ['everyThreeHours', words().everyThreeHours(), '0 0 */3 * * *'],
    ['everyFourHours', words().everyFourHours(), '0 0 */4 * * *'],
    ['everySixHours', words().everySixHours(), '0 0 */6 * * *'],
    ['everyEightHours', words().everyEightHours(), '0 0 */8 * * *'],
    ['everyTwelveHours', words().everyTwelveHours(), '0 0 */12 * * *'],
    ['everyXHours', words().everyXHours(8), '0 0 */8 * * *'],
    ['everyXHours of one', words().everyXHours(1), '0 0 * * * *'],
    ['daily', words().daily(), '0 0 0 * * *'],
    ['dailyAt, without leading zeros', words().dailyAt('02:05'), '0 5 2 * * *'],
    ['dailyAt with a short hour', words().dailyAt('9:30'), '0 30 9 * * *'],
    ['dailyAt with a second', words().dailyAt('09:30:15'), '15 30 9 * * *'],
    ['twiceDaily', words().twiceDaily(), '0 0 1,13 * * *'],
    ['twiceDaily at other hours', words().twiceDaily(20, 8), '0 0 8,20 * * *'],
    ['twiceDailyAt', words().twiceDailyAt(8, 20, 15), '0 15 8,20 * * *'],
    ['X7: weekly, on Sunday', words().weekly(), '0 0 0 * * 0'],
    ['weeklyOn', words().weeklyOn('monday'), '0 0 0 * * 1'],
    ['X8: weeklyOn several days, in any form', words().weeklyOn([7, 'wed', 'friday'], '08:00'), '0 0 8 * * 0,3,5'],
    ['monthly', words().monthly(), '0 0 0 1 * *'],
    ['monthlyOn', words().monthlyOn(15, '06:30'), '0 30 6 15 * *'],
    ['monthlyOn several days', words().monthlyOn([15, 1]), '0 0 0 1,15 * *'],
    ['twiceMonthly', words().twiceMonthly(), '0 0 0 1,16 * *'],
    ['twiceMonthly on other days', words().twiceMonthly(5, 20, '12:00'), '0 0 12 5,20 * *'],
    ['lastDayOfMonth', words().lastDayOfMonth('23:30'), '0 30 23 L * *'],
    ['X10: quarterly, in named months', words().quarterly(), '0 0 0 1 1,4,7,10 *'],
    ['X10: quarterlyOn', words().quarterlyOn(2, '03:00'), '0 0 3 2 1,4,7,10 *'],
    ['yearly', words().yearly(), '0 0 0 1 1 *'],
    ['yearlyOn', words().yearlyOn('december', 24, '16:00'), '0 0 16 24 12 *'],
    ['yearlyOn a leap day', words().yearlyOn(2, 29), '0 0 0 29 2 *'],
    ['X11: cron with five fields', words().cron('*/10 8-18 * * *'), '0 */10 8-18 * * *'],
    ['X11: cron with six fields', words().cron('30 0 9 1 * *'), '30 0 9 1 * *'],
  ])('J18, D11: %s', (_, { result }, expression) => {
    expect(result).toMatchObject({ kind: 'calendar', expression, timezone: 'UTC' })
  })

  test('X9: of cron is the schedule of the expression itself, on days that fit either', () => {
    const { fields, expression } = parseCron('0 0 13 * 5', 'UTC')
    const said = words().cron('0 0 13 * 5')
    expect(said.result).toMatchObject({ fields, expression })
    expect(runs(said, '2026-12-01T00:00:00Z', 3)).toEqual(['2026-12-04T00:00', '2026-12-11T00:00', '2026-12-13T00:00'])
  })

  test('X12: is read in its time zone', () => {
    const said = words().dailyAt('02:30').timezone('Europe/Paris').weekdays()
    expect(said.result).toMatchObject({ expression: '0 30 2 * * 1-5', timezone: 'Europe/Paris' })
    expect(runs(said, '2026-07-03T12:00:00Z', 1)).toEqual(['2026-07-06T00:30'])
  })

  test('X25: is nothing unless a word is said', () => {
    expect(words().result).toBeNull()
  })

  test('asks before every change whether it may', () => {
    const frozen = words()
    frozen.isFrozen = true
    const changes: (() => unknown)[] = [
      () => frozen.cron('* * * * *'),
      () => frozen.timezone('UTC'),
      () => frozen.daily(),
      () => frozen.weekdays(),
      () => frozen.dailyAt('never'),
      () => frozen.hours(99),
      () => frozen.schedule('NONE'),
      () => frozen.repeat('NEVER'),
    ]
    for (const change of changes) expect(change).toThrowError(expect.objectContaining({ code: 'DEFINITION_FROZEN' }))
    expect(frozen.result).toBeNull()
  })
})

describe('a restriction', () => {
  test.each<[string, Words, string]>([
    ['weekdays', words().hourly().weekdays(), '0 0 * * * 1-5'],
    ['weekends', words().daily().weekends(), '0 0 0 * * 0,6'],
    ['a day', words().dailyAt('08:00').mondays(), '0 0 8 * * 1'],
    ['several days, which add up', words().fridays().daily().mondays().mondays(), '0 0 0 * * 1,5'],
    [
      'all days',
      words().daily().sundays().mondays().tuesdays().wednesdays().thursdays().fridays().saturdays(),
      '0 0 0 * * 0,1,2,3,4,5,6',
    ],
    ['X8: daysOfWeek', words().daily().daysOfWeek(['sat', 7, 'monday']), '0 0 0 * * 0,1,6'],
    ['J19: hours', words().daily().hours([12, 9]), '0 0 9,12 * * *'],
    ['J19: one hour', words().daily().hours(9), '0 0 9 * * *'],
    ['J19: minutes and seconds', words().daily().minutes([0, 30]).seconds(15), '15 0,30 0 * * *'],
    ['J19: days, which are days of the month', words().daily().days([15, 1]), '0 0 0 1,15 * *'],
    ['X8: daysOfMonth', words().daily().daysOfMonth(15), '0 0 0 15 * *'],
    ['J19: months', words().daily().months([7, 1]), '0 0 0 * 1,7 *'],
    ['months by their names', words().daily().months(['jan', 'july', 'may']), '0 0 0 * 1,5,7 *'],
    ['J19: all of them', words().daily().hours(9).days([1, 15]).months([1, 7]), '0 0 9 1,15 1,7 *'],
    ['hours of an interval', words().everyFiveMinutes().hours([9, 10]), '0 */5 9,10 * * *'],
    ['a minute of a step of hours', words().everySixHours().minutes(10), '0 10 */6 * * *'],
    ['the day of a weekly job', words().weekly().mondays(), '0 0 0 * * 1'],
    ['the day of a monthly job', words().monthly().days(15), '0 0 0 15 * *'],
    ['the month of a yearly job', words().yearly().months('march'), '0 0 0 1 3 *'],
    ['the second of a time', words().dailyAt('09:30').seconds(15), '15 30 9 * * *'],
    ['cron narrowed down', words().cron('0 9 * * *').weekdays(), '0 0 9 * * 1-5'],
    ['one that comes first', words().weekdays().dailyAt('02:30'), '0 30 2 * * 1-5'],
    ['one that is repeated', words().daily().weekdays().weekdays(), '0 0 0 * * 1-5'],
  ])('%s', (_, { result }, expression) => {
    expect(result).toMatchObject({ expression })
  })

  test('X9: of days of the week leaves out days of the month', () => {
    const fridays13 = ['2026-11-13T00:00', '2027-08-13T00:00', '2028-10-13T00:00']
    expect(runs(words().monthlyOn(13).fridays(), '2026-11-01T00:00:00Z', 3)).toEqual(fridays13)
    expect(runs(words().cron('0 0 13 * *').fridays(), '2026-11-01T00:00:00Z', 3)).toEqual(fridays13)
    expect(runs(words().cron('0 0 * * 5').days(13), '2026-11-01T00:00:00Z', 3)).toEqual(fridays13)
    expect(runs(words().weekdays().monthly(), '2026-10-01T00:00:00Z', 2)).toEqual(['2026-12-01T00:00', '2027-01-01T00:00'])
  })

  test('between times of day includes both', () => {
    const said = words().everyThirtyMinutes().between('09:00', '10:00')
    expect(runs(said, '2026-11-15T00:00:00Z', 4)).toEqual([
      '2026-11-15T09:00',
      '2026-11-15T09:30',
      '2026-11-15T10:00',
      '2026-11-16T09:00',
    ])
  })

  test('between times of day may go over midnight', () => {
    const said = words().hourly().between('23:00', '01:00')
    expect(runs(said, '2026-11-15T02:00:00Z', 4)).toEqual([
      '2026-11-15T23:00',
      '2026-11-16T00:00',
      '2026-11-16T01:00',
      '2026-11-16T23:00',
    ])
  })

  test('unlessBetween leaves out both ends, and what lies between them', () => {
    const said = words().everySixHours().unlessBetween('06:00', '12:00')
    expect(runs(said, '2026-11-15T00:00:00Z', 3)).toEqual(['2026-11-15T18:00', '2026-11-16T00:00', '2026-11-16T18:00'])
    const overMidnight = words().everySixHours().unlessBetween('18:00', '00:00')
    expect(runs(overMidnight, '2026-11-15T00:00:00Z', 3)).toEqual(['2026-11-15T06:00', '2026-11-15T12:00', '2026-11-16T06:00'])
  })

  test('several times of day add up, and a break is taken out of them', () => {
    const said = words().unlessBetween('09:30', '10:30').hourly().between('08:00', '10:00').between('20:00', '21:00')
    expect(runs(said, '2026-11-15T00:00:00Z', 4)).toEqual([
      '2026-11-15T08:00',
      '2026-11-15T09:00',
      '2026-11-15T20:00',
      '2026-11-15T21:00',
    ])
  })

  test('times of day that touch are one', () => {
    const said = words().everyMinute().between('08:00', '09:00').between('08:30', '10:00')
    expect(said.result).toMatchObject({ fields: { windows: [{ from: 8 * 3_600, to: 10 * 3_600 }] } })
  })

  test('means the same in whatever order it is said', () => {
    const calls: ((said: Words) => Words)[] = [
      (said) => said.everyFiveMinutes(),
      (said) => said.mondays(),
      (said) => said.fridays(),
      (said) => said.hours([8, 9, 10]),
      (said) => said.months('jan'),
      (said) => said.days([1, 2, 3]),
      (said) => said.between('08:00', '10:00'),
      (said) => said.unlessBetween('09:10', '09:20'),
      (said) => said.timezone('Europe/Paris'),
    ]
    const inOrder = calls.reduce((said, call) => call(said), words()).result
    fc.assert(
      fc.property(fc.shuffledSubarray(calls, { minLength: calls.length }), (shuffled) => {
        const { result } = shuffled.reduce((said, call) => call(said), words())
        expect(result).toMatchObject({ expression: inOrder?.expression, timezone: 'Europe/Paris' })
      }),
      { numRuns: 50, seed: 1 },
    )
  })
})

describe('a word with a wrong argument throws at the call', () => {
  test.each<[string, () => unknown, string]>([
    ['cron', () => words().cron('61 * * * *'), 'minute, "61"'],
    ['D10: cron with four fields', () => words().cron('* * * *'), 'five fields'],
    ['cron that never runs', () => words().cron('0 0 31 2 *'), 'never runs'],
    ['cron without a text', () => words().cron(undefined as never), 'got undefined'],
    ['timezone', () => words().timezone('Paris'), '"Paris"'],
    [
      'everyMinute',
      () => words().everyMinute(0),
      'everyMinute() takes a number of minutes that divides the hour evenly: 1, 2, 3',
    ],
    [
      'X10: everyXMinutes that leave a rest',
      () => words().everyXMinutes(7),
      "got 7. Any other distance is a repeat, such as repeat('SCHEDULED, +7 MINUTES')",
    ],
    ['everyXMinutes of an hour', () => words().everyXMinutes(60), 'got 60. For one run each hour say hourly()'],
    ['everyXMinutes of a half', () => words().everyXMinutes(2.5), 'got 2.5'],
    ['everyXMinutes of a text', () => words().everyXMinutes('5' as never), "got '5'"],
    [
      'X10: everyXSeconds that leave a rest',
      () => words().everyXSeconds(45),
      'everyXSeconds() takes a number of seconds that divides the minute',
    ],
    [
      'X10: everyXHours that leave a rest',
      () => words().everyXHours(5),
      'everyXHours() takes a number of hours that divides the day evenly: 1, 2, 3, 4, 6, 8, 12; got 5',
    ],
    ['hourlyAt', () => words().hourlyAt(60), 'hourlyAt() takes a number from 0 to 59, or a list of these, got 60'],
    ['hourlyAt no minute', () => words().hourlyAt([]), 'got an empty list'],
    ['dailyAt an hour that is none', () => words().dailyAt('24:00'), "dailyAt() takes a time from '00:00' to '23:59'"],
    ['dailyAt a minute that is none', () => words().dailyAt('12:60'), "got '12:60'"],
    ['dailyAt a second that is none', () => words().dailyAt('12:00:60'), "got '12:00:60'"],
    ['dailyAt without minutes', () => words().dailyAt('12'), "got '12'"],
    ['twiceDaily at one hour', () => words().twiceDaily(8, 8), 'twiceDaily() takes two different values, got 8 twice'],
    ['twiceDailyAt', () => words().twiceDailyAt(8, 20, 60), 'twiceDailyAt() takes a number from 0 to 59'],
    [
      'weeklyOn',
      () => words().weeklyOn('funday' as never),
      "weeklyOn() takes a number from 0 to 7 or a name such as 'monday' or 'mon'",
    ],
    ['weeklyOn at no time', () => words().weeklyOn('monday', 'noon'), "weeklyOn() takes a time from '00:00' to '23:59'"],
    ['monthlyOn', () => words().monthlyOn(32), 'monthlyOn() takes a number from 1 to 31, or a list of these, got 32'],
    ['twiceMonthly', () => words().twiceMonthly(1, 0), 'twiceMonthly() takes a number from 1 to 31, got 0'],
    ['quarterlyOn', () => words().quarterlyOn(0), 'quarterlyOn() takes a number from 1 to 31'],
    [
      'yearlyOn a day that never comes',
      () => words().yearlyOn('feb', 30),
      'yearlyOn() takes a day that month 2 has, up to 29, got 30',
    ],
    ['yearlyOn several months', () => words().yearlyOn([1, 2] as never, 1), 'got [1, 2]'],
    ['yearlyOn a month that is none', () => words().yearlyOn(13, 1), "from 1 to 12 or a name such as 'february' or 'feb'"],
    ['hours', () => words().hours([9, 24]), 'hours() takes a number from 0 to 23, or a list of these, got 24'],
    ['minutes', () => words().minutes(-1), 'minutes() takes a number from 0 to 59, or a list of these, got -1'],
    ['seconds', () => words().seconds(60), 'seconds() takes a number from 0 to 59'],
    ['days', () => words().days(0), 'days() takes a number from 1 to 31'],
    [
      'daysOfMonth',
      () => words().daysOfMonth(['first'] as never),
      "daysOfMonth() takes a number from 1 to 31, or a list of these, got 'first'",
    ],
    ['X8: daysOfWeek', () => words().daysOfWeek(8), 'daysOfWeek() takes a number from 0 to 7'],
    ['months', () => words().months('monday' as never), "got 'monday'"],
    [
      'between',
      () => words().between('9', '17:00'),
      "between() takes a time from '00:00' to '23:59', such as '02:30' or '02:30:15', got '9'",
    ],
    ['unlessBetween', () => words().unlessBetween('09:00', 17 as never), 'unlessBetween() takes a time'],
  ])('%s', (_, call, message) => {
    expect(call).toThrowError(expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) }))
  })
})

describe('words that make no sense together are refused when the schedule is asked for', () => {
  test.each<[string, Words, string]>([
    ['X25: a restriction alone', words().weekdays(), 'weekdays() only narrows down a frequency'],
    ['X25: times of day alone', words().between('09:00', '17:00'), 'between() only narrows down a frequency'],
    [
      'two time zones',
      words().daily().timezone('Europe/Paris').timezone('UTC'),
      "timezone('Europe/Paris') and timezone('UTC') contradict",
    ],
    ['a time zone alone', words().timezone('Europe/Paris'), "timezone('Europe/Paris') was called without a frequency"],
    ['two frequencies', words().daily().hourly(), 'daily() and hourly()'],
    ['contrary restrictions', words().daily().weekdays().weekends(), 'weekdays() and weekends() contradict each other'],
    ['a day beside weekdays', words().daily().weekdays().saturdays(), 'weekdays() and saturdays() contradict each other'],
    ['two words for one thing', words().daily().days(1).daysOfMonth(2), 'days() and daysOfMonth() contradict each other'],
    [
      'a constraint twice',
      words().daily().hours(9).hours(12),
      'hours() was called twice with different values: call it once, with a list',
    ],
    ['weekdays of a weekly job', words().weekly().weekdays(), 'weekly() already says the day of week, so weekdays() cannot'],
    ['an hour beside a time', words().dailyAt('02:30').hours(9), 'dailyAt() already says the hour, so hours() cannot'],
    [
      'a day beside a named one',
      words().weeklyOn('monday').fridays(),
      'weeklyOn() already says the day of week, so fridays() cannot',
    ],
    [
      'X9: days of a union of days',
      words().cron('0 0 13 * 5').weekdays(),
      'cron() names days of the month and days of the week and runs on days that fit either, so weekdays() cannot',
    ],
    [
      'times of day that leave none',
      words().daily().between('09:00', '10:00').unlessBetween('08:00', '11:00'),
      'between() and unlessBetween() leave no time of the day',
    ],
    ['a time that is left out', words().dailyAt('02:30').between('09:00', '17:00'), 'dailyAt() and between() together'],
    ['a day that its month never has', words().monthlyOn(31).months([2, 4]), 'monthlyOn() and months() together'],
  ])('%s', (_, said, message) => {
    expect(() => said.result).toThrowError(
      expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) }),
    )
  })
})
