import type { WallTimes } from '../calendar/calendar.ts'
import { parseZone, type Zone } from '../calendar/zone.ts'
import type { CalendarSchedule } from '../schedule.ts'
import { joined } from './lists-in-words.ts'
import { type ClockChange, clockChanges, dateText, timeText } from './local-time.ts'

/** How a clock change affects an occurrence, given the one before it; null if it does not. */
export function changeNote(schedule: Zoned, times: WallTimes, at: number, before: number | null): string | null {
  const zone = parseZone(schedule.timezone)
  return skippedNote(zone, times, at, before) ?? twiceNote(zone, schedule, at)
}

type Zoned = Pick<CalendarSchedule, 'timezone' | 'matches'>

/** The named times in `[from, to)`, in words: "02:30", "02:00 and 02:30", "02:00 to 02:55"; null if there are none. */
export function namedBetween(times: WallTimes, from: number, to: number): { text: string; isOne: boolean } | null {
  const found: number[] = []
  for (let wall = times.next(from - 1); wall !== null && wall < to; wall = times.next(wall)) {
    if (found.length === longestList) return { text: `${timeText(found[0]!)} to ${timeText(times.previous(to)!)}`, isOne: false }
    found.push(wall)
  }
  return found.length === 0 ? null : { text: joined(found.map(timeText), 'and'), isOne: found.length === 1 }
}

const longestList = 4

/** "the clock goes from 02:00 to 03:00" */
export function turnText({ wallBefore, wallAfter }: ClockChange): string {
  return `the clock goes ${wallAfter < wallBefore ? 'back ' : ''}from ${timeText(wallBefore)} to ${timeText(wallAfter)}`
}

const dayMs = 24 * 3_600_000

// An occurrence more than a month after the gap is a rare one, and was not moved by it.
const lookBackMs = 32 * dayMs

function skippedNote(zone: Zone, times: WallTimes, at: number, before: number | null): string | null {
  const since = Math.max(before ?? at - lookBackMs, at - lookBackMs)
  for (const change of clockChanges(zone, since, at)) {
    const skipped = namedBetween(times, change.wallBefore, change.wallAfter)
    if (skipped === null) continue
    const isSameDay = dateText(change.wallBefore) === dateText(at + zone.offsetAt(at))
    const day = isSameDay ? 'this day' : dateText(change.wallBefore)
    return `${skipped.text} ${skipped.isOne ? 'is' : 'are'} skipped on ${day}: ${turnText(change)}`
  }
  return null
}

function twiceNote(zone: Zone, schedule: Zoned, at: number): string | null {
  const wall = at + zone.offsetAt(at)
  const changes = clockChanges(zone, at - dayMs, at + dayMs)
  const change = changes.find(({ wallBefore, wallAfter }) => wallAfter <= wall && wall < wallBefore)
  if (change === undefined) return null
  const comesTwice = `${timeText(wall)} comes twice on this day`
  if (at >= change.at) return `${comesTwice}: this is the second one`
  const isSecondOne = schedule.matches(at + change.wallBefore - change.wallAfter)
  return `${comesTwice}: ${isSecondOne ? 'this is the first one' : 'the first one counts'}`
}
