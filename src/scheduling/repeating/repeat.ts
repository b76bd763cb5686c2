import { TreadleError } from '../../core/errors.ts'
import { explainRepeat } from '../explaining/explain.ts'
import type { EndedRun, RepeatBase, RepeatSchedule } from '../schedule.ts'
import { applyModifiers, type Modifier, parseModifier } from './repeat-modifiers.ts'

/** Names for whole repeats. */
export type CannedRepeats = Readonly<Record<string, string>>

/** The default meanings: approximately as often as the name says, but never more often. */
export const cannedRepeats: CannedRepeats = Object.freeze({
  HOURLY: 'FINISHED, +1 HOUR',
  DAILY: 'FINISHED, +1 DAY',
  WEEKLY: 'FINISHED, +7 DAYS',
})

/**
 * Parses a repeat: a base (`SCHEDULED`, `STARTED`, `FINISHED`) with modifiers, such as `FINISHED, +1 HOUR`, or a canned name. It
 * may stand still or go back in time, as `FINISHED, START OF DAY` does; use `standsStill` to check.
 */
export function parseRepeat(text: string, canned: CannedRepeats = cannedRepeats): RepeatSchedule {
  const { base, modifiers } = parseParts(text, canned)
  const expression = [base, ...modifiers.map((modifier) => modifier.text)].join(', ')
  const following = (run: EndedRun) => applyModifiers(modifiers, run[momentOf[base]])
  const next = (afterMs: number) => applyModifiers(modifiers, afterMs)
  const schedule = { kind: 'repeat', expression, timezone: 'UTC', base, following, next } as const
  return Object.freeze({ ...schedule, explain: (options) => explainRepeat(schedule, options) } satisfies RepeatSchedule)
}

export function modifiersOf({ expression }: RepeatSchedule): readonly Modifier[] {
  return parseParts(expression, {}).modifiers
}

/**
 * Returns a moment from which a repeat does not move forward, or null if there seems to be none. A repeat rewinds furthest from
 * the last second before a day begins, shifted by the steps that come first, so testing those seconds is enough.
 */
export function standsStill(repeat: RepeatSchedule): number | null {
  const shifts = shiftsOf(modifiersOf(repeat))
  for (const midnight of midnights)
    for (const shift of shifts) {
      const moment = midnight - shift - 1_000
      if (repeat.next(moment) <= moment) return moment
    }
  return null
}

const momentOf = { SCHEDULED: 'scheduledAt', STARTED: 'startedAt', FINISHED: 'finishedAt' } as const satisfies Record<
  RepeatBase,
  keyof EndedRun
>

// Long lists have no use, and each modifier costs time whenever a job ends.
const maxLength = 1_000

interface Parts {
  readonly base: RepeatBase
  readonly modifiers: readonly Modifier[]
}

function parseParts(text: string, canned: CannedRepeats): Parts {
  if (typeof text !== 'string' || text.length > maxLength) throw malformed(text, canned)
  const upper = text.toUpperCase()
  const written = Object.hasOwn(canned, upper) ? (canned[upper] as string) : upper
  const [base, ...rest] = written
    .split(',')
    .map((item) => item.replace(/^ +/, ''))
    .filter((item) => item !== '')
  const modifiers = rest.map(parseModifier)
  if (!isBase(base) || modifiers.length === 0 || !modifiers.every((modifier) => modifier !== null)) throw malformed(text, canned)
  return { base, modifiers }
}

function isBase(text: string | undefined): text is RepeatBase {
  return text !== undefined && Object.hasOwn(momentOf, text)
}

function malformed(text: unknown, canned: CannedRepeats): TreadleError {
  const got = typeof text === 'string' ? JSON.stringify(text.slice(0, 100)) : typeof text
  const words = Object.keys(canned)
  return new TreadleError(
    'SCHEDULE_INVALID',
    `A repeat is a base (SCHEDULED, STARTED or FINISHED) and one or more modifiers, such as "FINISHED, +1 DAY, START OF DAY, +4 HOURS"${words.length > 0 ? `, or one of ${words.join(', ')}` : ''}. Modifiers are +N or -N SECONDS (up to 8 digits), MINUTES, HOURS, DAYS, MONTHS or YEARS (up to 3 digits), START OF HOUR, DAY, MONTH or YEAR, and WEEKDAY 0 (Sunday) to 6; got ${got}`,
  )
}

// Four years including a leap year, so that every month occurs in all its lengths.
const midnights: readonly number[] = Array.from({ length: 4 * 365 + 1 }, (_, day) => Date.UTC(2_027, 0, 1 + day))

/** The total of the fixed-length steps before each step that depends on the calendar. */
function shiftsOf(modifiers: readonly Modifier[]): ReadonlySet<number> {
  const shifts = new Set<number>()
  let shift = 0
  for (const { distanceMs } of modifiers) {
    if (distanceMs === null) shifts.add(shift)
    shift += distanceMs ?? 0
  }
  return shifts.size === 0 ? new Set([0]) : shifts
}
