import { TreadleError } from '../../core/errors.ts'

/** One step from an instant to another, as in SQLite's date functions; always in UTC. */
export interface Modifier {
  /** As written, in capitals: `+1 HOUR`. */
  readonly text: string
  /** The distance if it is constant; null if it depends on the calendar. */
  readonly distanceMs: number | null
  apply(instantMs: number): number
}

/** Parses a modifier in capitals; null if it is not one. */
export function parseModifier(text: string): Modifier | null {
  const shift = shiftForm.exec(text)
  if (shift !== null) return shiftBy(text, Number(shift[1] ?? shift[3]), shift[2] === undefined ? 'SECOND' : (shift[2] as Unit))
  const start = startForm.exec(text)
  if (start !== null) return { text, distanceMs: null, apply: starts[start[1] as Start] }
  const weekday = weekdayForm.exec(text)
  return weekday === null ? null : { text, distanceMs: null, apply: (instantMs) => onWeekday(instantMs, Number(weekday[1])) }
}

/** Applies modifiers from left to right to the instant, rounded down to a whole second. */
export function applyModifiers(modifiers: readonly Modifier[], instantMs: number): number {
  let at = Math.floor(instantMs / 1_000) * 1_000
  for (const modifier of modifiers) {
    at = modifier.apply(at)
    if (!(at >= firstYearMs && at < lastYearMs)) throw outOfYears(modifier)
  }
  return at
}

type Unit = 'SECOND' | 'MINUTE' | 'HOUR' | 'DAY' | 'MONTH' | 'YEAR'
type Start = 'HOUR' | 'DAY' | 'MONTH' | 'YEAR'

const shiftForm = /^([+-]\d{1,3}) (MINUTE|HOUR|DAY|MONTH|YEAR)S?$|^([+-]\d{1,8}) SECONDS?$/
const startForm = /^START OF (HOUR|DAY|MONTH|YEAR)$/
const weekdayForm = /^WEEKDAY ([0-6])$/

const dayMs = 86_400_000
const unitMs: Partial<Record<Unit, number>> = { SECOND: 1_000, MINUTE: 60_000, HOUR: 3_600_000, DAY: dayMs }

// SQLite supports the years 0 to 9999.
const firstYearMs = Date.parse('0000-01-01T00:00:00Z')
const lastYearMs = Date.UTC(10_000, 0, 1)

function shiftBy(text: string, count: number, unit: Unit): Modifier {
  const size = unitMs[unit]
  if (size === undefined) return { text, distanceMs: null, apply: (at) => addMonths(at, unit === 'YEAR' ? count * 12 : count) }
  return { text, distanceMs: count * size, apply: (at) => at + count * size }
}

/** A day that the month does not have overflows into the next one: a month after January 31 is March 2 or 3. */
function addMonths(instantMs: number, months: number): number {
  const date = new Date(instantMs)
  return date.setUTCMonth(date.getUTCMonth() + months)
}

const starts: { readonly [Name in Start]: (instantMs: number) => number } = {
  HOUR: (instantMs) => new Date(instantMs).setUTCMinutes(0, 0, 0),
  DAY: startOfDay,
  MONTH: (instantMs) => new Date(startOfDay(instantMs)).setUTCDate(1),
  YEAR: (instantMs) => new Date(startOfDay(instantMs)).setUTCMonth(0, 1),
}

function startOfDay(instantMs: number): number {
  return Math.floor(instantMs / dayMs) * dayMs
}

/** Keeps the time of day, and keeps the day if it already is the right weekday. */
function onWeekday(instantMs: number, weekday: number): number {
  return instantMs + ((weekday - new Date(instantMs).getUTCDay() + 7) % 7) * dayMs
}

function outOfYears({ text }: Modifier): TreadleError {
  return new TreadleError('SCHEDULE_INVALID', `The modifier "${text}" leads out of the years 0 to 9999`)
}
