import { describe, expect, test } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { Frequency } from '../../src/scheduling/frequency.ts'
import type { Schedule } from '../../src/scheduling/schedule.ts'

class Words extends Frequency {
  isFrozen = false

  get result(): Schedule | null {
    return this.schedule()
  }

  protected override beforeChange(): void {
    if (this.isFrozen) throw new TreadleError('DEFINITION_FROZEN', 'too late')
  }
}

const words = () => new Words()

describe('a frequency', () => {
  test.each<[string, Words, string]>([
    ['everySecond', words().everySecond(), '* * * * * *'],
    ['everyMinute', words().everyMinute(), '0 * * * * *'],
    ['everyMinute with a number', words().everyMinute(5), '0 */5 * * * *'],
    ['everyXMinutes', words().everyXMinutes(15), '0 */15 * * * *'],
    ['everyXMinutes of one', words().everyXMinutes(1), '0 * * * * *'],
    ['hourly', words().hourly(), '0 0 * * * *'],
    ['hourlyAt', words().hourlyAt(17), '0 17 * * * *'],
    ['daily', words().daily(), '0 0 0 * * *'],
    ['dailyAt, without leading zeros', words().dailyAt('02:05'), '0 5 2 * * *'],
    ['dailyAt with a short hour', words().dailyAt('9:30'), '0 30 9 * * *'],
    ['X7: weekly, on Sunday', words().weekly(), '0 0 0 * * 0'],
    ['monthly', words().monthly(), '0 0 0 1 * *'],
    ['X10: quarterly, in named months', words().quarterly(), '0 0 0 1 1,4,7,10 *'],
    ['yearly', words().yearly(), '0 0 0 1 1 *'],
    ['X11: cron with five fields', words().cron('*/10 8-18 * * *'), '0 */10 8-18 * * *'],
    ['X11: cron with six fields', words().cron('30 0 9 1 * *'), '30 0 9 1 * *'],
    ['weekdays', words().hourly().weekdays(), '0 0 * * * 1-5'],
    ['weekends', words().daily().weekends(), '0 0 0 * * 0,6'],
    ['cron narrowed down', words().cron('0 9 * * *').weekdays(), '0 0 9 * * 1-5'],
    ['a restriction that comes first', words().weekdays().dailyAt('02:30'), '0 30 2 * * 1-5'],
    ['a restriction that is repeated', words().daily().weekdays().weekdays(), '0 0 0 * * 1-5'],
  ])('D11: %s', (_, { result }, expression) => {
    expect(result).toMatchObject({ expression, timezone: 'UTC' })
  })

  test('X12: is read in its time zone', () => {
    const { result } = words().dailyAt('02:30').timezone('Europe/Paris').weekdays()
    expect(result).toMatchObject({ expression: '0 30 2 * * 1-5', timezone: 'Europe/Paris' })
    expect(result?.next(Date.parse('2026-07-03T12:00:00Z'))).toBe(Date.parse('2026-07-06T00:30:00Z'))
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
    ]
    for (const change of changes) expect(change).toThrowError(expect.objectContaining({ code: 'DEFINITION_FROZEN' }))
    expect(frozen.result).toBeNull()
  })
})

describe('a word with a wrong argument throws at the call', () => {
  test.each<[string, () => unknown, string]>([
    ['cron', () => words().cron('61 * * * *'), 'minute, "61"'],
    ['D10: cron with four fields', () => words().cron('* * * *'), 'five fields'],
    ['cron that never runs', () => words().cron('0 0 31 2 *'), 'never runs'],
    ['cron without a text', () => words().cron(undefined as never), 'got undefined'],
    ['timezone', () => words().timezone('Paris'), '"Paris"'],
    ['everyMinute', () => words().everyMinute(0), 'everyMinute() takes a number of minutes from 1 to 59, got 0'],
    ['everyXMinutes of an hour', () => words().everyXMinutes(60), 'from 1 to 59, got 60'],
    ['everyXMinutes of a half', () => words().everyXMinutes(2.5), 'got 2.5'],
    ['everyXMinutes of a text', () => words().everyXMinutes('5' as never), "got '5'"],
    ['hourlyAt', () => words().hourlyAt(60), 'from 0 to 59, got 60'],
    ['dailyAt an hour that is none', () => words().dailyAt('24:00'), "got '24:00'"],
    ['dailyAt a minute that is none', () => words().dailyAt('12:60'), "got '12:60'"],
    ['dailyAt without minutes', () => words().dailyAt('12'), "got '12'"],
  ])('%s', (_, call, message) => {
    expect(call).toThrowError(expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) }))
  })
})

describe('words that make no sense together are refused when the schedule is asked for', () => {
  test.each<[string, Words, string]>([
    ['X25: a restriction alone', words().weekdays(), 'weekdays() only narrows down a frequency'],
    ['a time zone alone', words().timezone('Europe/Paris'), "timezone('Europe/Paris') was called without a frequency"],
    ['two frequencies', words().daily().hourly(), 'daily() and hourly()'],
    ['contrary restrictions', words().daily().weekdays().weekends(), 'weekdays() and weekends() contradict each other'],
    ['weekdays of a weekly job', words().weekly().weekdays(), 'weekly() already says on which days'],
    ['X9: weekdays of a monthly job', words().monthly().weekdays(), 'monthly() already says on which days'],
    ['X9: weekends of a cron day', words().weekends().cron('0 0 13 * *'), 'cron() already says on which days'],
  ])('%s', (_, said, message) => {
    expect(() => said.result).toThrowError(
      expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) }),
    )
  })
})
