import type { TimeWindow } from './calendar-fields.ts'
import { type ValueTable, valueTable } from './cron/value-table.ts'
import { disjointWindows } from './time-windows.ts'

/** The seconds after midnight at which a schedule runs; null if there is none. */
export interface TimesOfDay {
  atOrAfter(second: number): number | null
  atOrBefore(second: number): number | null
}

export interface ClockValues {
  readonly hours: readonly number[]
  readonly minutes: readonly number[]
  readonly seconds: readonly number[]
}

export function timesOfDay({ hours, minutes, seconds }: ClockValues, windows: readonly TimeWindow[]): TimesOfDay {
  const times = clockTimes(valueTable(hours), valueTable(minutes), valueTable(seconds))
  return windows.length === 0 ? times : within(disjointWindows(windows), times)
}

function clockTimes(hours: ValueTable, minutes: ValueTable, seconds: ValueTable): TimesOfDay {
  const firstMinute = minutes.atOrAfter(0) as number
  const lastMinute = minutes.atOrBefore(59) as number
  const firstSecond = seconds.atOrAfter(0) as number
  const lastSecond = seconds.atOrBefore(59) as number
  return {
    atOrAfter(from) {
      const hour = Math.floor(from / 3_600)
      if (hours.has(hour)) {
        const minute = Math.floor(from / 60) % 60
        const second = minutes.has(minute) ? seconds.atOrAfter(from % 60) : null
        if (second !== null) return timeOf(hour, minute, second)
        const laterMinute = minutes.atOrAfter(minute + 1)
        if (laterMinute !== null) return timeOf(hour, laterMinute, firstSecond)
      }
      const laterHour = hours.atOrAfter(hour + 1)
      return laterHour === null ? null : timeOf(laterHour, firstMinute, firstSecond)
    },
    atOrBefore(to) {
      const hour = Math.floor(to / 3_600)
      if (hours.has(hour)) {
        const minute = Math.floor(to / 60) % 60
        const second = minutes.has(minute) ? seconds.atOrBefore(to % 60) : null
        if (second !== null) return timeOf(hour, minute, second)
        const earlierMinute = minutes.atOrBefore(minute - 1)
        if (earlierMinute !== null) return timeOf(hour, earlierMinute, lastSecond)
      }
      const earlierHour = hours.atOrBefore(hour - 1)
      return earlierHour === null ? null : timeOf(earlierHour, lastMinute, lastSecond)
    },
  }
}

function timeOf(hour: number, minute: number, second: number): number {
  return hour * 3_600 + minute * 60 + second
}

function within(windows: readonly TimeWindow[], times: TimesOfDay): TimesOfDay {
  return {
    atOrAfter(from) {
      for (const window of windows) {
        if (window.to < from) continue
        const time = times.atOrAfter(Math.max(from, window.from))
        if (time === null || time <= window.to) return time
      }
      return null
    },
    atOrBefore(to) {
      for (const window of windows.toReversed()) {
        if (window.from > to) continue
        const time = times.atOrBefore(Math.min(to, window.to))
        if (time === null || time >= window.from) return time
      }
      return null
    },
  }
}
