import { TreadleError } from '../../core/errors.ts'
import { shown } from '../../core/text/shown.ts'
import type { CronFields, TimeWindow } from '../calendar/calendar-fields.ts'
import { disjointWindows } from '../calendar/time-windows.ts'

/** Parses a time such as `'02:30'` or `'02:30:15'`; the second is left out if not given. */
export function timeFields(time: string, method: string): Partial<CronFields> {
  const { hour, minute, second } = parseTime(time, method)
  const fields = { hour: String(hour), minute: String(minute) }
  return second === null ? fields : { ...fields, second: String(second) }
}

/** The part of the day between two times, both included; spans midnight if the first is later. */
export function windowsBetween(from: string, to: string, method: string): readonly TimeWindow[] {
  const start = secondOfDay(from, method)
  const end = secondOfDay(to, method)
  if (start <= end) return [{ from: start, to: end }]
  return [
    { from: wholeDay.from, to: end },
    { from: start, to: wholeDay.to },
  ]
}

/** What is inside one of the `within` windows (or anywhere, if there are none) and outside all of the `without` windows. */
export function windowsLeft(within: readonly TimeWindow[], without: readonly TimeWindow[]): readonly TimeWindow[] {
  const windows = within.length === 0 ? [wholeDay] : disjointWindows(within)
  return without.reduce((left, gap) => left.flatMap((window) => cut(window, gap)), windows)
}

const wholeDay: TimeWindow = { from: 0, to: 86_399 }

const timeForm = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

interface WrittenTime {
  readonly hour: number
  readonly minute: number
  readonly second: number | null
}

function parseTime(time: string, method: string): WrittenTime {
  const [, hour, minute, second] = (typeof time === 'string' ? timeForm.exec(time) : null) ?? []
  if (hour === undefined || minute === undefined) {
    throw new TreadleError(
      'SCHEDULE_INVALID',
      `${method} takes a time from '00:00' to '23:59', such as '02:30' or '02:30:15', got ${shown(time)}`,
    )
  }
  return { hour: Number(hour), minute: Number(minute), second: second === undefined ? null : Number(second) }
}

function secondOfDay(time: string, method: string): number {
  const { hour, minute, second } = parseTime(time, method)
  return (hour * 60 + minute) * 60 + (second ?? 0)
}

function cut(window: TimeWindow, gap: TimeWindow): readonly TimeWindow[] {
  const before = { from: window.from, to: Math.min(window.to, gap.from - 1) }
  const after = { from: Math.max(window.from, gap.to + 1), to: window.to }
  return [before, after].filter(({ from, to }) => from <= to)
}
