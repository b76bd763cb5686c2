import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catchUp } from '../../../src/scheduling/repeating/catch-up.ts'
import { parseRepeat } from '../../../src/scheduling/repeating/repeat.ts'

const at = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
const text = (instantMs: number) => new Date(instantMs).toISOString().slice(0, 19).replace('T', ' ')
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const noLimit = { withinMs: Number.POSITIVE_INFINITY, cap: Number.POSITIVE_INFINITY }

describe('catching up (X14, R15)', () => {
  const hourly = parseRepeat('SCHEDULED, +1 HOUR')
  const next = at('2026-11-15 01:00:00')

  test.each<[string, string, { withinMs: number; cap: number }, string]>([
    ['nothing is missed before the next one is due', '2026-11-15 00:59:59', { withinMs: dayMs, cap: 1 }, '2026-11-15 01:00:00'],
    ['all missed ones are made up for within the limits', '2026-11-15 05:30:00', noLimit, '2026-11-15 01:00:00'],
    [
      'the latest ones are, where there are more than the cap',
      '2026-11-15 05:30:00',
      { withinMs: dayMs, cap: 2 },
      '2026-11-15 04:00:00',
    ],
    ['old ones are left out', '2026-11-15 05:30:00', { withinMs: 2 * hourMs, cap: 100 }, '2026-11-15 04:00:00'],
    [
      'one on the edge of the window is not old',
      '2026-11-15 05:00:00',
      { withinMs: 2 * hourMs, cap: 100 },
      '2026-11-15 03:00:00',
    ],
    [
      'where all are too old, the first in the future follows',
      '2026-11-15 05:30:00',
      { withinMs: 60_000, cap: 9 },
      '2026-11-15 06:00:00',
    ],
    ['a cap of none leaves out all', '2026-11-15 05:00:00', { withinMs: dayMs, cap: 0 }, '2026-11-15 06:00:00'],
  ])('%s', (_, now, limits, expected) => {
    expect(text(catchUp(hourly, next, at(now), limits))).toBe(expected)
  })

  test('counts a century of seconds without going through them', () => {
    const everySecond = parseRepeat('SCHEDULED, +2 SECONDS, -1 SECOND')
    const now = at('2126-11-15 00:00:00')
    expect(catchUp(everySecond, next, now, { withinMs: dayMs, cap: 10 })).toBe(now - 9_000)
  })

  test('goes through the calendar where the calendar decides', () => {
    const monthly = parseRepeat('SCHEDULED, +1 MONTH, START OF MONTH')
    const from = at('2026-01-01 00:00:00')
    expect(text(catchUp(monthly, from, at('2026-11-15 00:00:00'), { withinMs: 400 * dayMs, cap: 3 }))).toBe('2026-09-01 00:00:00')
    expect(text(catchUp(monthly, from, at('2026-11-15 00:00:00'), { withinMs: 20 * dayMs, cap: 3 }))).toBe('2026-11-01 00:00:00')
    expect(text(catchUp(monthly, from, at('2026-11-15 00:00:00'), { withinMs: dayMs, cap: 3 }))).toBe('2026-12-01 00:00:00')
    expect(text(catchUp(monthly, from, at('2026-11-15 00:00:00'), noLimit))).toBe('2026-01-01 00:00:00')
  })

  test('begins anew where the calendar is too many steps behind', () => {
    const secondsOfMondays = parseRepeat('SCHEDULED, +1 SECOND, WEEKDAY 1')
    const now = at('2026-11-16 12:00:00')
    expect(text(catchUp(secondsOfMondays, at('2020-01-01 00:00:00'), now, { withinMs: dayMs, cap: 3 }))).toBe(
      '2026-11-16 12:00:01',
    )
  })

  test('leaves alone what does not lead into the future', () => {
    const now = at('2026-11-16 12:00:00')
    for (const still of ['SCHEDULED, START OF DAY', 'SCHEDULED, -1 DAY', 'SCHEDULED, +0 SECONDS'])
      expect(catchUp(parseRepeat(still), next, now, { withinMs: hourMs, cap: 1 })).toBe(next)
  })

  test.each(['STARTED, +1 HOUR', 'FINISHED, +1 HOUR'])(
    'has nothing to make up for where it counts from the run: %s',
    (repeat) => {
      expect(catchUp(parseRepeat(repeat), next, at('2026-11-16 12:00:00'), { withinMs: hourMs, cap: 1 })).toBe(next)
    },
  )

  test('is the same counted and step by step', () => {
    const cases = fc.record({
      intervalMinutes: fc.integer({ min: 1, max: 300 }),
      lateMinutes: fc.integer({ min: -60, max: 3_000 }),
      withinMinutes: fc.integer({ min: 0, max: 3_000 }),
      cap: fc.integer({ min: 0, max: 20 }),
    })
    fc.assert(
      fc.property(cases, ({ intervalMinutes, lateMinutes, withinMinutes, cap }) => {
        const now = next + lateMinutes * 60_000
        const withinMs = withinMinutes * 60_000
        const repeat = parseRepeat(`SCHEDULED, +${intervalMinutes} MINUTES`)
        const overdue: number[] = []
        let future = next
        for (; future <= now; future = repeat.next(future)) overdue.push(future)
        const kept = overdue.filter((each) => each >= now - withinMs).slice(cap === 0 ? overdue.length : -cap)
        expect(catchUp(repeat, next, now, { withinMs, cap })).toBe(kept[0] ?? future)
      }),
      { numRuns: 500, seed: 14 },
    )
  })
})
