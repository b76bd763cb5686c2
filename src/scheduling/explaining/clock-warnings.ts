import type { WallTimes } from '../calendar/calendar.ts'
import { isFixedTime } from '../calendar/calendar-fields.ts'
import { parseZone } from '../calendar/zone.ts'
import type { CalendarSchedule } from '../schedule.ts'
import { namedBetween, turnText } from './clock-change-notes.ts'
import { counted } from './lists-in-words.ts'
import { type ClockChange, clockChanges, dateText, timeText } from './local-time.ts'
import type { NamedTimes } from './named-times.ts'

export interface ClockSuspect {
  readonly schedule: Pick<CalendarSchedule, 'fields' | 'timezone'>
  readonly named: NamedTimes
  readonly wallTimes: WallTimes
  /** The start of the period to explain; null if not given. */
  readonly from: number | null
}

/** Warns about named times that the clock skips or shows twice within the next two years: one warning of each kind. */
export function clockWarnings({ schedule, named, wallTimes, from }: ClockSuspect): string[] {
  // A schedule that runs every hour keeps running through a clock change.
  if (named.hours.isAll && named.windows.length === 0) return []
  const start = from ?? anyMoment
  const changes = clockChanges(parseZone(schedule.timezone), start, start + twoYearsMs)
  const isFixed = isFixedTime(schedule.fields)
  return [
    ...firstOf(changes, (change) => skipWarning(wallTimes, change, isFixed)),
    ...firstOf(changes, (change) => twiceWarning(wallTimes, change, isFixed)),
  ]
}

/** Warns about time zones that look like the time of a place but are not. */
export function zoneWarnings(timezone: string): string[] {
  const [, sign, hours] = /^Etc\/GMT([+-])([1-9]\d?)$/i.exec(timezone) ?? []
  if (sign !== undefined && hours !== undefined) {
    const side = sign === '+' ? 'behind' : 'ahead of'
    return [
      `${timezone} is ${counted(Number(hours), 'hour')} ${side} UTC: in these names the sign is inverted, and there is no daylight saving time. For the local time of a place use its zone, such as Europe/Paris`,
    ]
  }
  const city = { EST: 'America/New_York', MST: 'America/Denver', HST: 'Pacific/Honolulu' }[timezone.toUpperCase()]
  return city === undefined
    ? []
    : [`${timezone} never has daylight saving time. For the local time of a place use its zone, such as ${city}`]
}

// Used if no start was given: the rules of most time zones are the same every year.
const anyMoment = Date.UTC(2_026, 0, 1)
const twoYearsMs = 2 * 366 * 24 * 3_600_000

function firstOf(changes: readonly ClockChange[], warningOf: (change: ClockChange) => string | null): string[] {
  for (const change of changes) {
    const warning = warningOf(change)
    if (warning !== null) return [warning]
  }
  return []
}

function skipWarning(wallTimes: WallTimes, change: ClockChange, isFixed: boolean): string | null {
  const skipped = namedBetween(wallTimes, change.wallBefore, change.wallAfter)
  if (skipped === null) return null
  const after = timeText(change.wallAfter)
  const moved = skipped.isOne ? `the run comes at ${after}` : `their runs come as one at ${after}`
  const then = isFixed ? moved : `${skipped.isOne ? 'it is' : 'they are'} left out`
  return `${dayOf(change)} and skips ${skipped.text}: ${then}. ${advice}`
}

function twiceWarning(wallTimes: WallTimes, change: ClockChange, isFixed: boolean): string | null {
  const twice = namedBetween(wallTimes, change.wallAfter, change.wallBefore)
  if (twice === null) return null
  return `${dayOf(change)} and shows ${twice.text} twice: ${isFixed ? 'only the first time counts' : 'both times count'}. ${advice}`
}

const advice = 'Where that matters, choose another time of day, or UTC'

function dayOf(change: ClockChange): string {
  const affected = Math.min(change.wallBefore, change.wallAfter)
  return `On some days, such as ${dateText(affected)}, ${turnText(change)}`
}
