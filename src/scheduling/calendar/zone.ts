import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'

/** The wall clock of a time zone. */
export interface Zone {
  /** How far the wall clock is ahead of UTC at an instant, in milliseconds. */
  offsetAt(instantMs: number): number
  /** A span around the instant, not necessarily the longest, in which the offset does not change. */
  spanAt(instantMs: number): Span
}

export interface Span {
  readonly from: number
  /** The first instant after the span. */
  readonly to: number
  readonly offset: number
}

export function parseZone(timezone: string): Zone {
  const key = typeof timezone === 'string' ? timezone.toLowerCase() : ''
  const known = zones.get(key)
  if (known !== undefined) return known
  const zone = makeZone(timezone)
  zones.set(key, zone)
  return zone
}

// Bounded by the number of existing time zones, since unknown ones are rejected and case is ignored.
const zones = new Map<string, Zone>()

function makeZone(timezone: string): Zone {
  const format = formatOf(timezone)
  if (format.resolvedOptions().timeZone === 'UTC') return utc
  const spanAt = rememberedSpans(offsetsOf(format))
  return { spanAt, offsetAt: (instantMs) => spanAt(instantMs).offset }
}

const always: Span = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, offset: 0 }
const utc: Zone = { spanAt: () => always, offsetAt: () => 0 }

function formatOf(timezone: string): Intl.DateTimeFormat {
  try {
    // Offsets such as "+01:00" work only in some versions of Node, and have no daylight saving time.
    if (typeof timezone !== 'string' || !/^[a-z]/i.test(timezone)) throw new RangeError('not the name of a zone')
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
      `The time zone ${typeof timezone === 'string' ? JSON.stringify(timezone) : shown(timezone)} is not known. Use an IANA name such as "UTC", "Europe/Paris" or "America/New_York"`,
      { cause },
    )
  }
}

type Offsets = (instantMs: number) => number

function offsetsOf(format: Intl.DateTimeFormat): Offsets {
  return (instantMs) => {
    const second = Math.floor(Math.min(Math.max(instantMs, firstMs), lastMs) / 1_000) * 1_000
    const [month, day, year, hour, minute, rest] = (format.format(second).match(/\d+/g) ?? []).map(Number)
    return Date.UTC(year as number, (month as number) - 1, day, hour, minute, rest) - second
  }
}

// Before the first, every place kept its own unchanging local time; after the last there are no dates.
const firstMs = Date.UTC(1_800, 0, 1)
const lastMs = Date.UTC(275_760, 8, 12)

/** `Intl` takes microseconds per lookup, so results are cached, for enough chunks of time to cover about nine years. */
function rememberedSpans(offsetAt: Offsets): (instantMs: number) => Span {
  const chunks: (Chunk | undefined)[] = new Array(chunkCount).fill(undefined)
  return (instantMs) => {
    const index = Math.floor(instantMs / chunkMs)
    const place = index & (chunkCount - 1)
    const known = chunks[place]
    const chunk = known?.index === index ? known : makeChunk(index, offsetAt)
    chunks[place] = chunk
    return instantMs < chunk.before.to ? chunk.before : chunk.after
  }
}

// About three days. No place has changed its clock twice within less than four.
const chunkMs = 2 ** 28
const chunkCount = 1_024

interface Chunk {
  readonly index: number
  /** Equal to `after` if the clock does not change. */
  readonly before: Span
  readonly after: Span
}

function makeChunk(index: number, offsetAt: Offsets): Chunk {
  const from = index * chunkMs
  const to = from + chunkMs
  const offset = offsetAt(from)
  const laterOffset = offsetAt(to - 1)
  const change = offset === laterOffset ? to : changeBetween(from, to - 1, offset, offsetAt)
  const before = { from, to: change, offset }
  return { index, before, after: change === to ? before : { from: change, to, offset: laterOffset } }
}

/** The first instant in `(from, to]` with a different offset; clocks change on whole seconds. */
function changeBetween(from: number, to: number, offset: number, offsetAt: Offsets): number {
  let before = Math.floor(from / 1_000)
  let after = Math.floor(to / 1_000)
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(middle * 1_000) === offset) before = middle
    else after = middle
  }
  return after * 1_000
}
