import { expect, test } from 'vitest'
import { parseZone } from '../../../src/scheduling/calendar/zone.ts'
import { clockChanges, localText, timeText } from '../../../src/scheduling/explaining/local-time.ts'

test.each([
  ['UTC', '2027-07-01 12:00:00 +00:00'],
  ['Europe/Paris', '2027-07-01 14:00:00 +02:00'],
  ['America/St_Johns', '2027-07-01 09:30:00 -02:30'],
  ['Asia/Kathmandu', '2027-07-01 17:45:00 +05:45'],
  ['Pacific/Kiritimati', '2027-07-02 02:00:00 +14:00'],
])('noon of UTC on the wall of %s', (timezone, text) => {
  expect(localText(parseZone(timezone), Date.parse('2027-07-01T12:00Z'))).toBe(text)
})

test('seconds are shown where there are some', () => {
  expect([0, 9_000_000, 9_015_000].map(timeText)).toEqual(['00:00', '02:30', '02:30:15'])
})

test('the clock of a zone is changed at these moments and no others', () => {
  const changes = clockChanges(parseZone('Europe/Paris'), Date.parse('2027-01-01T00:00Z'), Date.parse('2028-01-01T00:00Z'))
  expect(
    changes.map(({ at, wallBefore, wallAfter }) =>
      [at, wallBefore, wallAfter].map((ms) => new Date(ms).toISOString().slice(5, 16)),
    ),
  ).toEqual([
    ['03-28T01:00', '03-28T02:00', '03-28T03:00'],
    ['10-31T01:00', '10-31T03:00', '10-31T02:00'],
  ])
  expect(clockChanges(parseZone('UTC'), 0, Date.parse('2028-01-01T00:00Z'))).toEqual([])
})

test('a change at the end of the time that is looked at counts, and one at its beginning does not', () => {
  const paris = parseZone('Europe/Paris')
  const spring = Date.parse('2027-03-28T01:00Z')
  expect(clockChanges(paris, spring - 3_600_000, spring)).toHaveLength(1)
  expect(clockChanges(paris, spring, spring + 3_600_000)).toEqual([])
})
