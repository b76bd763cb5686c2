import { parseZone } from '../calendar/zone.ts'
import type { CalendarSchedule, RepeatSchedule } from '../schedule.ts'
import { type ClockSuspect, clockWarnings, zoneWarnings } from './clock-warnings.ts'
import { dayWarnings } from './day-warnings.ts'
import { joined } from './lists-in-words.ts'
import { dateText, localText } from './local-time.ts'
import type { NamedTimes } from './named-times.ts'
import { modifiersIn } from './repeat-words.ts'
import { stepWarnings } from './step-warnings.ts'
import { clockText, secondsOfDay } from './time-words.ts'

/** A schedule in every form that the warnings examine. */
export interface Suspect extends ClockSuspect {
  readonly schedule: Omit<CalendarSchedule, 'explain'>
}

/** Warnings about what is probably a mistake or easily misread, and what to do about it. */
export function calendarWarnings(suspect: Suspect): string[] {
  return [
    ...openFieldWarnings(suspect),
    ...stepWarnings(suspect.schedule.fields, suspect.named),
    ...dayWarnings(suspect.schedule.fields, suspect.named),
    ...windowWarnings(suspect.named),
    ...zoneWarnings(suspect.schedule.timezone),
    ...clockWarnings(suspect),
    ...rareWarnings(suspect),
    ...endWarnings(suspect),
  ]
}

export function repeatWarnings({ expression }: Pick<RepeatSchedule, 'expression'>): string[] {
  if (!mayLeaveMonth(modifiersIn(expression))) return []
  return [
    'A day that a month does not have falls into the next month: a month after 31 January is 3 March, or 2 March in a leap year. To stay in the month, go to its start first: START OF MONTH, +1 MONTH',
  ]
}

/** Whether a shift by months or years can overflow. It cannot from the first of a month, which every month has. */
function mayLeaveMonth(modifiers: readonly string[]): boolean {
  let isOnFirst = false
  for (const modifier of modifiers) {
    const isShift = /^[+-]/.test(modifier)
    if (/MONTH|YEAR/.test(modifier)) {
      if (isShift && !isOnFirst) return true
      isOnFirst = true
    } else if (!modifier.startsWith('START')) isOnFirst = false
  }
  return false
}

/** With "* 2 * * *", more than the hour was probably meant to be fixed. */
function openFieldWarnings({ schedule: { fields }, named: { seconds, minutes, windows } }: Suspect): string[] {
  const isList = (text: string) => /^\d+(,\d+)*$/.test(text)
  if (windows.length > 0) return []
  if (seconds.values.length === 60 && isList(fields.minute)) return [openField('second', 'minute')]
  if (seconds.values.length === 1 && minutes.values.length === 60 && isList(fields.hour)) return [openField('minute', 'hour')]
  return []
}

function openField(open: string, fixed: string): string {
  return `The ${fixed} is given and the ${open} is left open, so this runs 60 times in that ${fixed}. For one run give the ${open} too, such as ${open} 0`
}

const few = 2

function windowWarnings(named: NamedTimes): string[] {
  const left = named.windows.length === 0 ? null : secondsOfDay(named, few)
  const all = secondsOfDay({ ...named, windows: [] }, few)
  if (left === null || left.length === all?.length) return []
  const [lies, them] = left.length === 1 ? ['lies', 'it'] : ['lie', 'them']
  return [
    `Only ${joined(left.map(clockText), 'and')} ${lies} within the allowed times of day, the others are left out. If that is intended, name only ${them}; otherwise allow more`,
  ]
}

const fourYearsMs = 4 * 365.25 * 24 * 3_600_000

function rareWarnings({ schedule, from }: Suspect): string[] {
  const next = from === null ? null : schedule.next(from)
  if (from === null || next === null || next - from <= fourYearsMs) return []
  const date = dateText(next + parseZone(schedule.timezone).offsetAt(next))
  return [`The first run is more than 4 years away, on ${date}. Check the day, the month and the year`]
}

function endWarnings({ schedule, named: { years }, from }: Suspect): string[] {
  if (years.isAll || years.divisor !== null) return []
  // One day past the end of the year, since the year ends later in time zones behind UTC.
  const last = schedule.previous(Date.UTC(years.values.at(-1)! + 1, 0, 2))
  if (last === null) return []
  const isOver = from !== null && last <= from
  const end = `the last run ${isOver ? 'was' : 'is'} at ${localText(parseZone(schedule.timezone), last)}`
  return [`The schedule ends with its last year: ${end}. Omit the year to continue`]
}
