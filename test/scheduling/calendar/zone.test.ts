import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCron } from '../../../src/scheduling/calendar/cron/cron.ts'
import { parseZone } from '../../../src/scheduling/calendar/zone.ts'

const day = 86_400_000
const zones = Intl.supportedValuesOf('timeZone')

// Names from before a zone was renamed, and others that the list of zones leaves out.
const aliases = [
  'UTC',
  'GMT',
  'Etc/UTC',
  'Etc/GMT+12',
  'Etc/GMT-14',
  'Zulu',
  'EST',
  'EST5EDT',
  'CET',
  'US/Eastern',
  'US/Pacific',
  'Asia/Calcutta',
  'Asia/Kolkata',
  'Asia/Saigon',
  'Europe/Kiev',
  'Europe/Kyiv',
  'Europe/Belfast',
  'America/Buenos_Aires',
  'Australia/ACT',
  'Pacific/Samoa',
  'Africa/Asmera',
  'GB-Eire',
  'NZ-CHAT',
  'Turkey',
  'europe/paris',
]

describe('a time zone', () => {
  test('has the offsets that Intl has, whatever its name', () => {
    const instants = fc.sample(fc.integer({ min: Date.UTC(1_840, 0, 1), max: Date.UTC(2_090, 0, 1) }), 20)
    const wrong = [...zones, ...aliases].flatMap((timezone) =>
      instants.filter((instant) => !agrees(timezone, instant)).map((instant) => `${timezone} at ${instant}`),
    )
    expect(wrong).toEqual([])
  })

  function agrees(timezone: string, instant: number): boolean {
    const offsetAt = offsetsOf(timezone)
    const zone = parseZone(timezone)
    const { from, to, offset } = zone.spanAt(instant)
    const ends = Number.isFinite(from) ? [from, to - 1] : []
    return (
      from <= instant && instant < to && [instant, ...ends].every((at) => offsetAt(at) === offset && zone.offsetAt(at) === offset)
    )
  }

  test.each([
    ['changes of Boa Vista, a week apart', 'America/Boa_Vista', '2000-10-08T04:00:00Z', '2000-10-15T03:00:00Z'],
    ['changes of Simferopol in one direction', 'Europe/Simferopol', '1944-04-03T01:00:00Z', '1944-04-12T22:00:00Z'],
    ['the month of Ramadan in Casablanca', 'Africa/Casablanca', '2026-02-15T02:00:00Z', '2026-03-22T02:00:00Z'],
    ['the day that Samoa left out', 'Pacific/Apia', '2011-12-30T10:00:00Z', '2012-03-31T14:00:00Z'],
  ])('knows %s', (_, timezone, ...changes) => {
    const zone = parseZone(timezone)
    const [first, last] = changes.map(Date.parse) as [number, number]
    const found: string[] = []
    for (let span = zone.spanAt(first - day); span.to < last + day; span = zone.spanAt(span.to)) {
      if (zone.offsetAt(span.to) !== span.offset) found.push(new Date(span.to).toISOString().replace('.000Z', 'Z'))
    }
    expect(found).toEqual(changes)
  })

  test('gives the same answers after it has forgotten them', () => {
    const zone = parseZone('Europe/Paris')
    const instants = [...Array(40).keys()].map((year) => Date.UTC(2_000 + year, 2, 28))
    const answers = () => instants.map((instant) => zone.spanAt(instant))
    expect(answers()).toEqual(answers())
    expect(zone.spanAt(Date.UTC(2_026, 2, 29, 1)).from).toBe(Date.UTC(2_026, 2, 29, 1))
  })
})

describe('X13: a daily job at 02:30', () => {
  const leftOut: { readonly [zone: string]: string } = {
    'Pacific/Apia': '2011-12-30',
    'Pacific/Enderbury': '1994-12-31',
    'Pacific/Fakaofo': '2011-12-30',
    'Pacific/Kanton': '1994-12-31',
    'Pacific/Kiritimati': '1994-12-31',
    'Pacific/Kwajalein': '1993-08-21',
  }

  test.each(Object.entries(leftOut))('runs for the day that %s left out, %s', (zone, date) => {
    expect(runsOnceADay(zone, Number(date.slice(0, 4)))).toBe(true)
  })

  test('runs exactly once on every day, in every zone', () => {
    const wrong = zones.filter((zone, index) => ![2_026, 1_972 + (index % 60)].every((year) => runsOnceADay(zone, year)))
    expect(wrong).toEqual([])
  })

  function runsOnceADay(zone: string, year: number): boolean {
    return (
      datesOf(zone, year).join() ===
      everyDate(year)
        .map((date) => runDate(zone, date))
        .join()
    )
  }

  // From February to January, since a day was left out at the end of a year.
  const firstDay = (year: number) => Date.UTC(year, 1, 1)

  /** The local dates of all runs in a year. */
  function datesOf(timezone: string, year: number): string[] {
    const schedule = parseCron('30 2 * * *', timezone)
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' })
    const dates: string[] = []
    let at = schedule.next(firstDay(year) - 2 * day) as number
    while (at < firstDay(year + 1) + 2 * day) {
      dates.push(format.format(at))
      at = schedule.next(at) as number
    }
    return dates.filter((date) => date >= `${year}-02-01` && date < `${year + 1}-02-01`)
  }

  function everyDate(year: number): string[] {
    const days = (firstDay(year + 1) - firstDay(year)) / day
    return Array.from({ length: days }, (_, index) => new Date(firstDay(year) + index * day).toISOString().slice(0, 10))
  }

  /** Some places changed sides of the date line and left out a day: its run comes when the next one begins. */
  function runDate(timezone: string, date: string): string {
    return leftOut[timezone] === date ? new Date(Date.parse(date) + day).toISOString().slice(0, 10) : date
  }
})

const formats = new Map<string, Intl.DateTimeFormat>()

function offsetsOf(timezone: string): (instantMs: number) => number {
  const format =
    formats.get(timezone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  formats.set(timezone, format)
  return (instantMs) => {
    const second = Math.floor(instantMs / 1_000) * 1_000
    return Date.parse(`${format.format(second).replace(' ', 'T')}Z`) - second
  }
}
