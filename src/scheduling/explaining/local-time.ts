import type { Zone } from '../calendar/zone.ts'

/** "2027-03-28 03:00:00 +02:00" */
export function localText(zone: Zone, instantMs: number): string {
  const offset = zone.offsetAt(instantMs)
  const [date, time] = new Date(instantMs + offset).toISOString().split(/[T.]/)
  return `${date} ${time} ${offsetText(offset)}`
}

/** "2027-03-28", for a time on a clock without a time zone. */
export function dateText(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, -'T00:00:00.000Z'.length)
}

/** "02:30", or "02:30:15" if it has seconds, for a time on a clock without a time zone. */
export function timeText(wallMs: number): string {
  const time = new Date(wallMs).toISOString().slice(-'00:00:00.000Z'.length)
  return time.slice(0, time.startsWith(':00', 5) ? 5 : 8)
}

/** A moment at which a clock is set forward, so that wall times are skipped, or back, so that they occur twice. */
export interface ClockChange {
  readonly at: number
  /** What the clock would have shown without the change, and what it shows. */
  readonly wallBefore: number
  readonly wallAfter: number
}

/** All changes in `(fromMs, toMs]`. */
export function clockChanges(zone: Zone, fromMs: number, toMs: number): ClockChange[] {
  const changes: ClockChange[] = []
  let span = zone.spanAt(fromMs)
  while (span.to <= toMs) {
    const next = zone.spanAt(span.to)
    if (next.offset !== span.offset) {
      changes.push({ at: span.to, wallBefore: span.to + span.offset, wallAfter: span.to + next.offset })
    }
    span = next
  }
  return changes
}

function offsetText(offsetMs: number): string {
  return (offsetMs < 0 ? '-' : '+') + timeText(Math.abs(offsetMs))
}
