import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { collect, duration, instant, priority, share, state, wholeNumber } from '../../src/cli/values.ts'

describe('values of options', () => {
  it.each(['', ' ', 'abc', '1.5', '1e3', '0x10', 'NaN', 'Infinity', '-1', '0', '99999999999999999'])(
    'a whole number is never made of %j',
    (text) => {
      expect(() => wholeNumber(1)(text)).toThrow(InvalidArgumentError)
      expect(() => wholeNumber(1)(text)).toThrow('It must be a whole number of at least 1.')
    },
  )

  it('a whole number stays within its range', () => {
    expect(wholeNumber(1, 10)('10')).toBe(10)
    expect(() => wholeNumber(1, 10)('11')).toThrow('It must be a whole number from 1 to 10.')
  })

  it.each(['', '0', '0.0', '-0.5', '1.1', '80', '80%', 'NaN', '1e-3'])('a share is never made of %j', (text) => {
    expect(() => share(text)).toThrow('It must be a fraction above 0 and up to 1, such as 0.8.')
  })

  it('a share is above nothing and up to all', () => {
    expect(['0.8', '.5', '1', '1.0'].map(share)).toEqual([0.8, 0.5, 1, 1])
  })

  it.each(['', '5', '5 minutes', 'm', '-5m', 'NaNs', '1h-30m'])('a duration is never made of %j', (text) => {
    expect(() => duration(text)).toThrow("It must be a duration with its unit, such as '250ms'")
  })

  it('a duration has its unit', () => {
    expect(duration('1h30m')).toBe('1h30m')
  })

  it.each(['tomorrow', '2026-06-10', '2026-13-01T00:00:00Z', '1781078400000'])('a time is never made of %j', (text) => {
    expect(() => instant(text)).toThrow('It must be an ISO 8601 time with its offset')
  })

  it.each(['2026-02-31T00:00:00Z', '2027-02-29T00:00:00Z', '2026-06-00T00:00:00Z'])(
    'a time is on a day that exists: %j',
    (text) => {
      expect(() => instant(text)).toThrow(`There is no such day: ${text.slice(0, 10)}.`)
    },
  )

  it('a time has its offset', () => {
    expect(instant('2026-06-10T09:00:00+02:00').getTime()).toBe(Date.UTC(2026, 5, 10, 7))
  })

  it('a priority is a name or a whole number', () => {
    expect(priority('high')).toBe('high')
    expect(priority('-3')).toBe(-3)
    for (const text of ['urgent', '1.5', '40000', '', 'toString'])
      expect(() => priority(text)).toThrow('Priority must be a whole number from')
  })

  it('a state is one of those that jobs have', () => {
    expect(state('dead')).toBe('dead')
    expect(() => state('failed')).toThrow('It must be one of ready, scheduled,')
  })

  it('lists grow with each option and are split at commas', () => {
    expect(collect('c', collect('a, b'))).toEqual(['a', 'b', 'c'])
    expect(() => collect('a,,b')).toThrow('It must not be empty.')
  })
})
