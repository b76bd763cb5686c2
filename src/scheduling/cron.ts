import { TreadleError } from '../core/errors.ts'
import { type WallTimes, wallTimes } from './calendar.ts'
import { nextElapsedTime, nextFixedTime } from './clock-change.ts'
import { type CronFields, expressionOf, isFixedTime, parseFields } from './cron-fields.ts'
import type { Schedule } from './schedule.ts'
import { parseZone } from './zone.ts'

/**
 * The schedule of a cron expression of five fields (at second 0) or six (second first), read in an IANA time zone.
 * Where both the day of month and the day of week are given, a day that fits either counts.
 */
export function parseCron(expression: string, timezone: string): Schedule {
  const key = `${timezone}\n${expression}`
  const schedule = parsed.get(key) ?? makeSchedule(expression, timezone)
  remember(key, schedule)
  return schedule
}

const maxParsed = 1_000
const parsed = new Map<string, Schedule>()

/** The map's order is the order of use, so the one that leaves is the one that was not asked for the longest. */
function remember(key: string, schedule: Schedule): void {
  parsed.delete(key)
  parsed.set(key, schedule)
  const [oldest] = parsed.keys()
  if (parsed.size > maxParsed && oldest !== undefined) parsed.delete(oldest)
}

function makeSchedule(text: string, timezone: string): Schedule {
  const zone = parseZone(timezone)
  const fields = parseFields(text)
  const expression = expressionOf(fields)
  const times = wallTimes(expression)
  refuseNever(times, expression)
  const nextTime = isFixedTime(fields) ? nextFixedTime : nextElapsedTime
  const next = (afterMs: number) => nextTime(times, zone, afterMs)
  const windowMs = currentWindowMs(fields)
  return Object.freeze({ expression, timezone, next, current: (nowMs: number) => currentOf(next, nowMs, windowMs) })
}

// The Gregorian calendar repeats itself, so an expression with no date after this one has none at all.
const anyDate = Date.UTC(2_000, 0, 1)

function refuseNever(times: WallTimes, expression: string): void {
  if (times(anyDate) !== null) return
  throw new TreadleError(
    'SCHEDULE_INVALID',
    `The cron expression "${expression}" never runs: none of its months has the given day of month. Correct the day of month or the month`,
  )
}

function currentWindowMs({ second }: CronFields): number {
  return /^0+$/.test(second) ? 60_000 : 1_000
}

function currentOf(next: (afterMs: number) => number | null, nowMs: number, windowMs: number): number | null {
  const at = next(nowMs - windowMs)
  return at !== null && at <= nowMs ? at : null
}
