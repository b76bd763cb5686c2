import { TreadleError } from '../core/errors.ts'

/** How far a zone's wall clock is ahead of UTC at an instant, in milliseconds. */
export type Zone = (instantMs: number) => number

export function parseZone(timezone: string): Zone {
  const key = String(timezone).toLowerCase()
  const known = zones.get(key)
  if (known !== undefined) return known
  const zone = makeZone(timezone)
  zones.set(key, zone)
  return zone
}

/** The first instant in `(fromMs, toMs]` at which the offset is no longer that of `fromMs`, given that there is one. */
export function offsetChange(zone: Zone, fromMs: number, toMs: number): number {
  const offset = zone(fromMs)
  let before = Math.floor(fromMs / 1_000)
  let after = Math.ceil(toMs / 1_000)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (zone(middle * 1_000) === offset) before = middle
    else after = middle
  }
  return after * 1_000
}

// Bounded by the number of zones that exist, since unknown ones are refused and case does not count.
const zones = new Map<string, Zone>()

function makeZone(timezone: string): Zone {
  const format = formatOf(timezone)
  if (format.resolvedOptions().timeZone === 'UTC') return () => 0
  return (instantMs) => {
    const second = Math.floor(instantMs / 1_000) * 1_000
    const [month, day, year, hour, minute, rest] = (format.format(second).match(/\d+/g) ?? []).map(Number)
    return Date.UTC(year as number, (month as number) - 1, day, hour, minute, rest) - second
  }
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  try {
    // Offsets such as "+01:00" are known to some versions of Node only, and have no daylight saving time.
    if (!/^[a-z]/i.test(timezone)) throw new RangeError('not the name of a zone')
    return new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch (cause) {
    throw new TreadleError(
      'SCHEDULE_INVALID',
      `The time zone ${JSON.stringify(timezone)} is not known. Use an IANA name such as "UTC", "Europe/Paris" or "America/New_York"`,
      { cause },
    )
  }
}
