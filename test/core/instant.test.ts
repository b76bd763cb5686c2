import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../src/core/time/instant.ts'

const nineOClock = Date.UTC(2026, 5, 10, 9)

describe('an instant', () => {
  it.each([
    ['2026-06-10T09:00:00Z'],
    ['2026-06-10T09:00Z'],
    ['2026-06-10T09:00:00.000Z'],
    ['2026-06-10T11:00:00+02:00'],
    ['2026-06-10T11:00:00+0200'],
    ['2026-06-10T03:30:00-05:30'],
    ['2026-06-10T09:00:00.000000000Z'],
  ])('reads %s', (text) => {
    expect(parseInstant(text, 'at')).toBe(nineOClock)
  })

  it('is a Date too', () => {
    expect(parseInstant(new Date(nineOClock), 'at')).toBe(nineOClock)
  })

  it('knows which years have a 29 February', () => {
    expect(parseInstant('2028-02-29T00:00:00Z', 'at')).toBe(Date.UTC(2028, 1, 29))
    expect(() => parseInstant('2027-02-29T00:00:00Z', 'at')).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
    expect(() => parseInstant('2100-02-29T00:00:00Z', 'at')).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })

  it.each([
    [''],
    ['now'],
    ['tomorrow'],
    ['2026-06-10'],
    ['2026-06-10T09:00:00'],
    ['2026-06-10 09:00:00Z'],
    ['2026-06-10T09:00:00 Z'],
    ['2026-06-31T09:00:00Z'],
    ['2026-02-30T09:00:00Z'],
    ['2026-13-01T09:00:00Z'],
    ['2026-00-01T09:00:00Z'],
    ['2026-06-00T09:00:00Z'],
    ['2026-06-10T25:00:00Z'],
    ['2026-06-10T09:60:00Z'],
    ['2026-06-10T09:00:60Z'],
    ['2026-06-10T09:00:00+25:00'],
    ['26-06-10T09:00:00Z'],
    ['1781082000000'],
    ['Wed, 10 Jun 2026 09:00:00 GMT'],
  ])('refuses the text %j', (text) => {
    expect(() => parseInstant(text, 'at')).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })

  it.each([[nineOClock], [null], [undefined], [{}], [new Date(Number.NaN)]])('refuses %s', (value) => {
    expect(() => parseInstant(value as never, 'at')).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })

  it('is refused with the name of the option, what was given, and the accepted forms', () => {
    expect(() => parseInstant('tomorrow', 'at')).toThrow(
      "at must be a valid Date or an ISO 8601 string with an offset, such as '2026-06-10T09:00:00Z', got 'tomorrow'",
    )
    expect(() => parseInstant(new Date(Number.NaN), 'at')).toThrow('got an invalid Date')
  })

  it('is the same as a Date and as its ISO text', () => {
    const dates = fc.date({ min: new Date('0100-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
    fc.assert(
      fc.property(dates, (date) => {
        expect(parseInstant(date.toISOString(), 'at')).toBe(parseInstant(date, 'at'))
      }),
      { seed: 1 },
    )
  })
})
