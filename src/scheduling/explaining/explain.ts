import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import { wallTimes } from '../calendar/calendar.ts'
import { parseZone } from '../calendar/zone.ts'
import type { CalendarSchedule, ExplainedOccurrence, ExplainOptions, Explanation, RepeatSchedule } from '../schedule.ts'
import { changeNote } from './clock-change-notes.ts'
import { localText } from './local-time.ts'
import { namedTimes } from './named-times.ts'
import { repeatWords } from './repeat-words.ts'
import { calendarWarnings, repeatWarnings } from './warnings.ts'
import { dependsOnZone, wordsOf } from './words.ts'

/** Describes a calendar schedule. Without options it lists no occurrences, since there is no start. */
export function explainCalendar(schedule: Omit<CalendarSchedule, 'explain'>, options: ExplainOptions | undefined): Explanation {
  const named = namedTimes(schedule.fields)
  const walls = wallTimes(schedule.fields, `The schedule "${schedule.expression}"`)
  const elsewhere = isShownElsewhere(schedule, options) ? `On the clock of ${schedule.timezone}, ` : ''
  const noteOf = (at: number, before: number | null) => {
    const note = changeNote(schedule, walls, at, before ?? schedule.previous(at))
    return note === null ? null : elsewhere + note
  }
  return {
    text: wordsOf(named) + (dependsOnZone(named) ? zoneWords(schedule.timezone) : ''),
    occurrences: occurrencesOf(schedule, options, noteOf),
    warnings: calendarWarnings({ schedule, named, wallTimes: walls, from: options?.from ?? null }),
  }
}

/** Describes a repeat. Its occurrences assume that each run takes no time. */
export function explainRepeat(schedule: Omit<RepeatSchedule, 'explain'>, options: ExplainOptions | undefined): Explanation {
  return {
    text: repeatWords(schedule) + zoneWords(schedule.timezone),
    occurrences: occurrencesOf(schedule, options, () => estimate),
    warnings: repeatWarnings(schedule),
  }
}

const estimate = 'An estimate: as if a run began when it was due and took no time'

const defaultCount = 5
const maxCount = 1_000

interface Following {
  readonly timezone: string
  next(afterMs: number): number | null
}

type NoteOf = (at: number, before: number | null) => string | null

function occurrencesOf(schedule: Following, options: ExplainOptions | undefined, noteOf: NoteOf): ExplainedOccurrence[] {
  if (options === undefined) return []
  const { from, count, zone } = checked(options)
  const shownIn = parseZone(zone ?? schedule.timezone)
  const occurrences: ExplainedOccurrence[] = []
  let before: number | null = null
  while (occurrences.length < count) {
    const at = schedule.next(before ?? from)
    // A repeat may not move forward, for example if it leads to the start of the current day.
    if (at === null || at <= (before ?? from)) break
    occurrences.push({ at, local: localText(shownIn, at), note: noteOf(at, before) })
    before = at
  }
  return occurrences
}

function checked({ from, count = defaultCount, zone }: ExplainOptions) {
  if (Number.isNaN(new Date(from).getTime())) {
    throw new TreadleError('INSTANT_INVALID', `explain() takes \`from\` as an instant in milliseconds, got ${shown(from)}`)
  }
  if (Number.isInteger(count) && count >= 0 && count <= maxCount) return { from, count, zone }
  throw new TreadleError('CONFIG_INVALID', `explain() takes a count of occurrences from 0 to ${maxCount}, got ${shown(count)}`)
}

function isShownElsewhere({ timezone }: Following, options: ExplainOptions | undefined): boolean {
  return options?.zone !== undefined && parseZone(options.zone) !== parseZone(timezone)
}

function zoneWords(timezone: string): string {
  return timezone.toUpperCase() === 'UTC' ? ', UTC' : `, ${timezone} time`
}
