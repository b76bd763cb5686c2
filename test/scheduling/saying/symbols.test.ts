import { describe, expect, test } from 'vitest'
import type { CalendarObject } from '../../../src/scheduling/saying/object-schedule.ts'
import { registerSymbol } from '../../../src/scheduling/saying/symbols.ts'
import { words } from './said.ts'

const refusal = (message: string) =>
  expect.objectContaining({ code: 'SCHEDULE_INVALID', message: expect.stringContaining(message) })

describe('a symbol', () => {
  test.each([
    ['EVERY_MINUTE', '2026-11-15T00:01:00Z', '2026-11-15T00:02:00Z'],
    ['EVERY_HOUR', '2026-11-15T00:01:00Z', '2026-11-15T01:01:00Z'],
    ['EVERY_DAY', '2026-11-15T02:10:00Z', '2026-11-16T02:10:00Z'],
    ['EVERY_WEEK', '2026-11-16T06:20:00Z', '2026-11-23T06:20:00Z'],
    ['EVERY_MONTH', '2026-12-01T01:30:00Z', '2027-01-01T01:30:00Z'],
  ])('Y7, X7: %s runs at %s, then at %s', (name, first, second) => {
    const { result } = words().schedule(name)
    expect(result?.next(Date.parse('2026-11-15T00:00:00Z'))).toBe(Date.parse(first))
    expect(result?.next(Date.parse(first))).toBe(Date.parse(second))
  })

  test('Y8: is read in the time zone of the job', () => {
    const { result } = words().schedule('EVERY_DAY').timezone('Europe/Paris')
    expect(result?.next(Date.parse('2026-11-15T12:00:00Z'))).toBe(Date.parse('2026-11-16T01:10:00Z'))
  })

  test('can be narrowed down', () => {
    expect(words().schedule('EVERY_DAY').days([1, 15]).result).toMatchObject({ expression: '0 10 2 1,15 * *' })
  })

  test('that is not known is refused, with the nearest one', () => {
    expect(() => words().schedule('EVERY_DAYS')).toThrowError(refusal('"EVERY_DAYS" is not known, did you mean "EVERY_DAY"?'))
    expect(() => words().schedule('NOON')).toThrowError(refusal('"NOON" is not known (known: EVERY_MINUTE, EVERY_HOUR'))
    expect(() => words().schedule('toString')).toThrowError(refusal('"toString" is not known'))
  })
})

describe('a symbol of the program', () => {
  test('stands for the object that it was registered with', () => {
    const times = { minutes: 30, hours: 3 }
    registerSymbol('NIGHTLY', times)
    times.hours = 4
    expect(words().schedule('NIGHTLY').result).toMatchObject({ expression: '0 30 3 * * *' })
  })

  test('may be registered again with the same meaning only', () => {
    registerSymbol('PAYDAY', { minutes: 0, hours: 6, mday: 25 })
    registerSymbol('PAYDAY', { day: '25', hours: 6, minutes: [0] })
    expect(() => registerSymbol('PAYDAY', { minutes: 0, hours: 6, mday: 26 })).toThrowError(
      refusal('"PAYDAY" is registered with another meaning'),
    )
    expect(words().schedule('PAYDAY').result).toMatchObject({ expression: '0 0 6 25 * *' })
  })

  test.each<[string, () => void, string]>([
    ['takes no name that is built in', () => registerSymbol('EVERY_DAY', { minutes: 10, hours: 2 }), '"EVERY_DAY" is built in'],
    ['takes no small letters', () => registerSymbol('nightly', { minutes: 0 }), 'capitals, digits and underscores'],
    ['takes no long name', () => registerSymbol('A'.repeat(65), { minutes: 0 }), 'up to 64'],
    ['needs a name', () => registerSymbol(undefined as never, { minutes: 0 }), 'registerSymbol()'],
    ['needs a sound object', () => registerSymbol('SOON', { minutes: 60 }), 'invalid minute, "60"'],
    ['needs an object', () => registerSymbol('SOON', 'EVERY_DAY' as never), 'it takes an object'],
  ])('%s', (_, call, message) => {
    expect(call).toThrowError(refusal(message))
  })

  test('is one of a thousand at most', () => {
    const register = () => {
      for (let number = 0; number <= 1_000; number++) registerSymbol(`N_${number}`, { minutes: 0 } satisfies CalendarObject)
    }
    expect(register).toThrowError(refusal('1000 symbols are registered already'))
  })
})
