import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { formatDuration, longestDurationMs, parseDuration } from '../../src/core/time/duration.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

describe('a duration', () => {
  it.each([
    [0, 0],
    [250, 250],
    [1.4, 1],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30 * second],
    ['5m', 5 * minute],
    ['1h30m', 90 * minute],
    ['2d', 2 * day],
    ['1w', 7 * day],
    ['1.5h', 90 * minute],
    ['0.1s', 100],
    ['1w2d3h4m5s6ms', 9 * day + 3 * hour + 4 * minute + 5 * second + 6],
  ])('reads %s as %d milliseconds', (value, ms) => {
    expect(parseDuration(value, 'delay')).toBe(ms)
  })

  it.each([
    [''],
    [' '],
    ['30'],
    ['30 s'],
    [' 30s'],
    ['30s '],
    ['30S'],
    ['-1s'],
    ['+1s'],
    ['1.s'],
    ['.5s'],
    ['1e3s'],
    ['s'],
    ['1h30'],
    ['1h,30m'],
    ['30 seconds'],
    ['1y'],
    ['٣s'],
    [`${'9'.repeat(400)}s`],
    ['300000w'.replace('300000', '9007199254740992')],
  ])('refuses the text %j', (text) => {
    expect(() => parseDuration(text, 'delay')).toThrow(TreadleError)
  })

  it.each([
    [-1],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [Number.MAX_SAFE_INTEGER + 1],
    [null],
    [undefined],
    [true],
    [10n],
    [new Date(0)],
    [{ seconds: 1 }],
    [[1]],
  ])('refuses %s, which is neither milliseconds nor a text', (value) => {
    expect(() => parseDuration(value as never, 'delay')).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
  })

  it('is refused with the name of the option, what was given, and the accepted forms', () => {
    expect(() => parseDuration('soon', 'retry delay')).toThrow(
      "retry delay must be a number of milliseconds or a string such as '250ms', '30s', '5m', '1h30m', '2d', '1w', got 'soon'",
    )
  })

  it('is at most ten thousand years: nobody means a longer one, and no Date could be so far away', () => {
    const now = Date.UTC(2026, 5, 10)
    expect(new Date(now + parseDuration('3652500d', 'delay')).toISOString()).toMatch(/^\+012026-/)
    expect(() => parseDuration('99999999d', 'delay')).toThrow("delay must be at most 3652500d (10000 years), got '99999999d'")
    expect(() => parseDuration(longestDurationMs + 1, 'delay')).toThrow(
      expect.objectContaining({ code: 'DURATION_INVALID', message: expect.stringContaining('got 315576000000001') }),
    )
  })

  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [90_000, '1m30s'],
    [day, '1d'],
    [day + 1, '1d1ms'],
    [25 * hour, '1d1h'],
  ])('is written from %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('reads back what it wrote, for every number of milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: longestDurationMs }), (ms) => {
        expect(parseDuration(formatDuration(ms), 'delay')).toBe(ms)
      }),
      { seed: 1 },
    )
  })

  it('adds up its parts in any order', () => {
    const parts = fc.array(fc.tuple(fc.integer({ min: 0, max: 9_999 }), fc.constantFrom('ms', 's', 'm', 'h', 'd', 'w')), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(parts, (given) => {
        const texts = given.map(([count, unit]) => `${count}${unit}`)
        const sum = texts.reduce((total, text) => total + parseDuration(text, 'delay'), 0)
        expect(parseDuration(texts.join(''), 'delay')).toBe(sum)
      }),
      { seed: 1 },
    )
  })

  it('refuses every text that is not made of numbers and units', () => {
    const isDuration = /^(\d+(\.\d+)?(ms|[smhdw]))+$/
    fc.assert(
      fc.property(
        fc.string().filter((text) => !isDuration.test(text)),
        (text) => {
          expect(() => parseDuration(text, 'delay')).toThrow(expect.objectContaining({ code: 'DURATION_INVALID' }))
        },
      ),
      { seed: 1 },
    )
  })
})
