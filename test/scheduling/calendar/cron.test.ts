import { describe, expect, test } from 'vitest'
import { TreadleError } from '../../../src/core/errors.ts'
import { parseCron } from '../../../src/scheduling/calendar/cron/cron.ts'

const newYear = Date.parse('2026-01-01T00:00:00Z') // a Thursday

describe('a cron expression', () => {
  test.each([
    ['J13: five fields run at second 0', '30 2 * * *', ['2026-01-01T02:30:00Z', '2026-01-02T02:30:00Z']],
    ['J13: six fields begin with the second', '15 30 2 * * *', ['2026-01-01T02:30:15Z', '2026-01-02T02:30:15Z']],
    ['J14: a star is every value', '* * * * * *', ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z']],
    [
      'J14: a step counts from the beginning',
      '*/25 * * * *',
      ['2026-01-01T00:25:00Z', '2026-01-01T00:50:00Z', '2026-01-01T01:00:00Z'],
    ],
    ['J14: a range', '0 3-4 * * *', ['2026-01-01T03:00:00Z', '2026-01-01T04:00:00Z', '2026-01-02T03:00:00Z']],
    ['J14: a list', '5,10 0 * * *', ['2026-01-01T00:05:00Z', '2026-01-01T00:10:00Z', '2026-01-02T00:05:00Z']],
    ['J14: a range with a step', '10-40/20 0 * * *', ['2026-01-01T00:10:00Z', '2026-01-01T00:30:00Z', '2026-01-02T00:10:00Z']],
    ['X10: a step in the month counts from January', '0 0 1 */3 *', ['2026-04-01T00:00:00Z', '2026-07-01T00:00:00Z']],
    ['X10: a step in the day of month counts from the 1st', '0 0 */2 * *', ['2026-01-03T00:00:00Z', '2026-01-05T00:00:00Z']],
    ['X8: 7 is Sunday', '0 0 * * 7', ['2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z']],
    ['X8: 0 is Sunday', '0 0 * * 0', ['2026-01-04T00:00:00Z', '2026-01-11T00:00:00Z']],
    ['X8: a range may end with Sunday', '0 0 * * 6-7', ['2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z', '2026-01-10T00:00:00Z']],
    ['names in any case', '0 0 * feb mon-Tue', ['2026-02-02T00:00:00Z', '2026-02-03T00:00:00Z', '2026-02-09T00:00:00Z']],
    ['J15, X9: both days set is a union', '0 0 9 * 5', ['2026-01-02T00:00:00Z', '2026-01-09T00:00:00Z', '2026-01-16T00:00:00Z']],
    ['J15: only the day of month set', '0 0 9 * *', ['2026-01-09T00:00:00Z', '2026-02-09T00:00:00Z']],
    ['J16: the 29th of February waits for a leap year', '0 0 29 2 *', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
    [
      'J16: the 31st leaves short months out',
      '0 0 31 * *',
      ['2026-01-31T00:00:00Z', '2026-03-31T00:00:00Z', '2026-05-31T00:00:00Z'],
    ],
    ['the last day of the month', '0 0 L * *', ['2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z']],
    ['the last working day of the month', '0 0 LW * *', ['2026-01-30T00:00:00Z', '2026-02-27T00:00:00Z']],
    ['the working day nearest to a Sunday', '0 0 15W 2 *', ['2026-02-16T00:00:00Z', '2027-02-15T00:00:00Z']],
    ['the working day nearest to a Saturday', '0 0 14W 2 *', ['2026-02-13T00:00:00Z', '2027-02-15T00:00:00Z']],
    ['the working day nearest to the 1st, not before it', '0 0 1W 8 *', ['2026-08-03T00:00:00Z', '2027-08-02T00:00:00Z']],
    ['the working day nearest to the 31st, not after it', '0 0 31W 5 *', ['2026-05-29T00:00:00Z', '2027-05-31T00:00:00Z']],
    ['the last Friday', '0 0 * * 5L', ['2026-01-30T00:00:00Z', '2026-02-27T00:00:00Z']],
    ['the second Monday', '0 0 * * MON#2', ['2026-01-12T00:00:00Z', '2026-02-09T00:00:00Z']],
    ['the fifth Friday, where there is one', '0 0 * * 5#5', ['2026-01-30T00:00:00Z', '2026-05-29T00:00:00Z']],
    ['a list of such days', '0 0 L,15 * *', ['2026-01-15T00:00:00Z', '2026-01-31T00:00:00Z', '2026-02-15T00:00:00Z']],
    ['a range of names that ends on Sunday', '0 0 * * SAT-SUN', ['2026-01-03T00:00:00Z', '2026-01-04T00:00:00Z']],
    [
      'J15: a step counts as a day that is set',
      '0 0 */15 * 5',
      ['2026-01-02T00:00:00Z', '2026-01-09T00:00:00Z', '2026-01-16T00:00:00Z', '2026-01-23T00:00:00Z'],
    ],
  ])('%s', (_, expression, occurrences) => {
    expect(occurrencesOf(expression, 'UTC', newYear, occurrences.length)).toEqual(occurrences)
  })

  test('is kept as six fields, with its zone', () => {
    const { expression, timezone } = parseCron('  30  2 * * MON-FRI ', 'Europe/Paris')
    expect({ expression, timezone }).toEqual({ expression: '0 30 2 * * MON-FRI', timezone: 'Europe/Paris' })
  })

  test.each([
    ['0 0 1,31 * *', '2026-02-10T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['0 9 1,15,30 * *', '2026-02-28T10:00:00Z', '2026-03-01T09:00:00Z'],
    ['30 5 2,31 * *', '2026-02-28T23:59:59Z', '2026-03-02T05:30:00Z'],
    ['0 0 */6 * *', '2024-02-26T00:00:00Z', '2024-03-01T00:00:00Z'],
    ['0 0 1,31 * *', '2026-03-01T00:00:00Z', '2026-03-31T00:00:00Z'],
    ['0 0 20,31 * *', '2026-02-10T00:00:00Z', '2026-02-20T00:00:00Z'],
  ])('that lists late days keeps the beginning of March: %s after %s', (expression, after, expected) => {
    expect(occurrencesOf(expression, 'UTC', Date.parse(after), 1)).toEqual([expected])
  })

  test.each([
    ['@yearly', '0 0 0 1 1 *'],
    ['@annually', '0 0 0 1 1 *'],
    ['@monthly', '0 0 0 1 * *'],
    ['@weekly', '0 0 0 * * 0'],
    ['@daily', '0 0 0 * * *'],
    [' @Midnight ', '0 0 0 * * *'],
    ['@hourly', '0 0 * * * *'],
  ])('may be a name: %s', (name, expression) => {
    expect(parseCron(name, 'UTC').expression).toBe(expression)
  })

  test('J17: is parsed once, and again after a thousand others', () => {
    const first = parseCron('1 2 3 4 *', 'UTC')
    expect(parseCron('1 2 3 4 *', 'UTC')).toBe(first)
    for (let n = 0; n < 1_000; n++) parseCron(`${n % 60} ${Math.floor(n / 60)} 5 5 *`, 'UTC')
    expect(parseCron('1 2 3 4 *', 'UTC')).not.toBe(first)
  })
})

describe('an expression that is refused', () => {
  test.each([
    ['60 * * * *', 'minute', '60', '0 to 59'],
    ['60 * * * * *', 'second', '60', '0 to 59'],
    ['* 24 * * *', 'hour', '24', '0 to 23'],
    ['* * 0 * *', 'day of month', '0', '1 to 31'],
    ['* * 32 * *', 'day of month', '32', '1 to 31'],
    ['* * * 13 *', 'month', '13', '1 to 12'],
    ['* * * * 8', 'day of week', '8', '0 to 7'],
    ['* * * * FOO', 'day of week', 'FOO', 'SUN to SAT'],
    ['* * * JANUARY *', 'month', 'JANUARY', 'JAN to DEC'],
    ['*/0 * * * *', 'minute', '*/0', '*/2'],
    ['5/10 * * * *', 'minute', '5/10', '1-5/2'],
    ['30-10 * * * *', 'minute', '30-10', '1-5'],
    ['1,,2 * * * *', 'minute', '1,,2', '1,3,5'],
    ['1.5 * * * *', 'minute', '1.5', '0 to 59'],
    ['-1 * * * *', 'minute', '-1', '0 to 59'],
    ['0 0 ? * *', 'day of month', '?', '1 to 31'],
    ['0 0 15 * +MON', 'day of week', '+MON', 'SUN to SAT'],
    ['0 0 * * FRI-MON', 'day of week', 'FRI-MON" (the range runs backwards)', 'SUN to SAT'],
    ['0 0 * * 6-0', 'day of week', '6-0', '0 and 7 are Sunday'],
    ['*/61 * * * *', 'minute', '*/61" (a step goes from 1 to 60)', '0 to 59'],
    ['0 0 0W * *', 'day of month', '0W', '1 to 31'],
    ['0 0 32W * *', 'day of month', '32W', '1 to 31'],
    ['0 0 * * 8L', 'day of week', '8L', '0 to 7'],
    ['0 0 * * 1#6', 'day of week', '1#6', 'MON#2'],
    ['0 0 * * 1-5L', 'day of week', '1-5L', '5L'],
    ['0 0 L * L', 'day of week', 'L', '5L'],
    ['5L * * * *', 'minute', '5L', '0 to 59'],
    ['0 0 1 JAN-13 *', 'month', 'JAN-13', '1 to 12'],
    ['5-SUN * * * *', 'minute', '5-SUN', '0 to 59'],
    ['0 0 1 5-JAN *', 'month', '5-JAN" (the range runs backwards)', '1 to 12'],
    ['100 * * * *', 'minute', '100', '0 to 59'],
  ])('X11: %s names its %s', (expression, field, value, accepted) => {
    const error = refusalOf(() => parseCron(expression, 'UTC'))
    expect(error.code).toBe('SCHEDULE_INVALID')
    expect(error.message).toContain(`"${expression}" has an invalid ${field}, "${value}`)
    expect(error.message).toContain(accepted)
  })

  test.each(['', '* * * *', '* * * * * * *', `${'0,'.repeat(600)}0 * * * *`])('has not five or six fields: %s', (expression) => {
    const error = refusalOf(() => parseCron(expression, 'UTC'))
    expect(error.code).toBe('SCHEDULE_INVALID')
    expect(error.message).toContain('five fields')
  })

  test.each([
    ['@reboot', 'is not a time'],
    ['@fortnightly', 'not a name that is known'],
  ])('is no name of a time: %s', (expression, why) => {
    const error = refusalOf(() => parseCron(expression, 'UTC'))
    expect(error.code).toBe('SCHEDULE_INVALID')
    expect(error.message).toContain(why)
    expect(error.message).toContain('@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly')
  })

  test.each(['0 0 31 2 *', '0 0 30 2 *', '0 0 31 4,6,9,11 *', '* * * 31 2 *', '0 0 31W 2 *'])(
    'J16: never comes: %s',
    (expression) => {
      const error = refusalOf(() => parseCron(expression, 'Europe/Paris'))
      expect(error.code).toBe('SCHEDULE_INVALID')
      expect(error.message).toContain('never runs')
    },
  )

  test.each(['Mars/Base', '', '+01:00', 'Europe/Paris '])('X12: has no such time zone: "%s"', (timezone) => {
    const error = refusalOf(() => parseCron('* * * * *', timezone))
    expect(error.code).toBe('SCHEDULE_INVALID')
    expect(error.message).toContain(JSON.stringify(timezone))
    expect(error.message).toContain('Europe/Paris')
  })
})

describe('the current occurrence', () => {
  test.each([
    ['of a minute lasts for the minute', '30 2 * * *', '2026-01-01T02:30:59.999Z', '2026-01-01T02:30:00Z'],
    ['begins with its instant', '30 2 * * *', '2026-01-01T02:30:00.000Z', '2026-01-01T02:30:00Z'],
    ['is over after the minute', '30 2 * * *', '2026-01-01T02:31:00.000Z', null],
    ['is not the one to come', '30 2 * * *', '2026-01-01T02:29:59.999Z', null],
    ['of a second lasts for the second', '15 30 2 * * *', '2026-01-01T02:30:15.999Z', '2026-01-01T02:30:15Z'],
    ['is over after the second', '15 30 2 * * *', '2026-01-01T02:30:16.000Z', null],
    ['of every second is this one', '* * * * * *', '2026-01-01T02:30:16.500Z', '2026-01-01T02:30:16Z'],
  ])('%s', (_, expression, now, expected) => {
    const current = parseCron(expression, 'UTC').current(Date.parse(now))
    expect(current === null ? null : iso(current)).toBe(expected)
  })

  test('X13: of a skipped time is the end of the gap', () => {
    const current = parseCron('30 2 * * *', 'Europe/Paris').current(Date.parse('2026-03-29T01:00:20Z'))
    expect(current).toBe(Date.parse('2026-03-29T01:00:00Z'))
  })
})

function occurrencesOf(expression: string, timezone: string, afterMs: number, count: number): string[] {
  const schedule = parseCron(expression, timezone)
  const found: string[] = []
  for (let at = schedule.next(afterMs); at !== null && found.length < count; at = schedule.next(at)) found.push(iso(at))
  return found
}

function iso(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
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
