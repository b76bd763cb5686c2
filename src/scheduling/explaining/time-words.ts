import type { TimeWindow } from '../calendar/calendar-fields.ts'
import { timesOfDay } from '../calendar/time-of-day.ts'
import { disjointWindows } from '../calendar/time-windows.ts'
import { counted, joined, listed, runsOf, singleRun } from './lists-in-words.ts'
import { timeText } from './local-time.ts'
import type { NamedTimes } from './named-times.ts'

/** The time of day in words, to start a sentence: "At 02:30", "Every 5 minutes between 09:00 and 17:00". */
export function timeWords(times: NamedTimes): string {
  const hasFewHours = !times.hours.isAll
  return (
    (hasFewHours ? timeListWords(times, 4) : null) ??
    secondCadenceWords(times) ??
    minuteCadenceWords(times) ??
    hourCadenceWords(times) ??
    (hasFewHours ? timeListWords(times, 8) : null) ??
    fieldWords(times)
  )
}

/** The named seconds of the day; null if there are more than `limit`. */
export function secondsOfDay({ seconds, minutes, hours, windows }: NamedTimes, limit: number): number[] | null {
  const times = timesOfDay({ hours: hours.values, minutes: minutes.values, seconds: seconds.values }, windows)
  const found: number[] = []
  for (let second = times.atOrAfter(0); second !== null; second = times.atOrAfter(second + 1)) {
    if (found.length === limit) return null
    found.push(second)
  }
  return found
}

export function clockText(secondOfDay: number): string {
  return timeText(secondOfDay * 1_000)
}

function timeListWords(times: NamedTimes, limit: number): string | null {
  const found = secondsOfDay(times, limit)
  return found === null ? null : `At ${joined(found.map(clockText), 'and')}`
}

function secondCadenceWords(times: NamedTimes): string | null {
  const step = evenStep(times.seconds.values, 60)
  if (step === null || times.minutes.values.length < 60) return null
  return `${everyWords(step, 'second')}${hourSpan(times, 0, 3_600 - step)}${windowWords(times)}`
}

function minuteCadenceWords(times: NamedTimes): string | null {
  if (!isOnlyZero(times.seconds.values)) return null
  const minutes = times.minutes.values
  const step = evenStep(minutes, 60)
  if (step !== null) return `${everyWords(step, 'minute')}${hourSpan(times, 0, 3_600 - step * 60)}${windowWords(times)}`
  const run = singleRun(minutes)
  if (run === null || times.hours.values.length > 1) return null
  return `Every minute${hourSpan(times, run.first * 60, run.last * 60)}${windowWords(times)}`
}

function hourCadenceWords(times: NamedTimes): string | null {
  const { seconds, minutes, hours } = times
  if (seconds.values.length > 1 || minutes.values.length > 1) return null
  const second = secondInHour(times, 0)
  const step = evenStep(hours.values, 24)
  const isPlain = second === 0 && step !== null && (step > 1 || hours.isAll)
  if (isPlain) return `${everyWords(step, 'hour')}${windowWords(times)}`
  if (hours.isAll || singleRun(hours.values) === null) return null
  return `Every hour${hourSpan(times, second, second)}${windowWords(times)}`
}

/** Field by field, if there is no shorter description: "At seconds 5 and 10 of minutes 0 to 9 of every hour". */
function fieldWords(times: NamedTimes): string {
  const { seconds, minutes, hours } = times
  const [first, last] = [secondInHour(times, 0), secondInHour(times, -1)]
  const isRun = hours.isAll || singleRun(hours.values) !== null
  const hourText = isRun ? `every hour${hourSpan(times, first, last)}` : fieldText('hour', hours.values)
  const minuteText = `${fieldText('minute', minutes.values)} of ${hourText}`
  if (isOnlyZero(seconds.values)) return `At ${minuteText}${windowWords(times)}`
  const step = evenStep(seconds.values, 60)
  const secondText = step === null ? `At ${fieldText('second', seconds.values)}` : everyWords(step, 'second')
  const isEveryMinute = minutes.values.length === 60
  return `${secondText} of ${isEveryMinute ? `every minute${hourSpan(times, 0, 3_540)}` : minuteText}${windowWords(times)}`
}

/** The first (0) or last (-1) named second of an hour. */
function secondInHour({ seconds, minutes }: NamedTimes, index: 0 | -1): number {
  return minutes.values.at(index)! * 60 + seconds.values.at(index)!
}

function fieldText(unit: string, values: readonly number[]): string {
  return `${unit}${values.length === 1 ? '' : 's'} ${listed(values)}`
}

function everyWords(step: number, unit: string): string {
  return step === 1 ? `Every ${unit}` : `Every ${counted(step, unit)}`
}

/** The n of "every n": the values are exactly the multiples of n, and n divides the size. */
function evenStep(values: readonly number[], size: number): number | null {
  const step = size / values.length
  return values.length > 1 && values.every((value, index) => value === index * step) ? step : null
}

/** The hours with the first and last matching second of each: " from 09:00 to 17:55". */
function hourSpan({ hours }: NamedTimes, firstSecond: number, lastSecond: number): string {
  if (hours.isAll) return ''
  const runs = runsOf(hours.values)
  if (runs.length > 2) return ` in the hours ${listed(hours.values)}`
  const spans = runs.map(
    ({ first, last }) => `from ${clockText(first * 3_600 + firstSecond)} to ${clockText(last * 3_600 + lastSecond)}`,
  )
  return ` ${joined(spans, 'and')}`
}

function windowWords({ seconds, hours, windows }: NamedTimes): string {
  const shown = isOnlyZero(seconds.values) ? disjointWindows(windows).flatMap(inWholeMinutes) : disjointWindows(windows)
  if (shown.length === 0) return ''
  const spans = shown.map(({ from, to }) =>
    from === to ? `at ${clockText(from)}` : `between ${clockText(from)} and ${clockText(to)}`,
  )
  return `${hours.isAll ? ' ' : ', but only '}${joined(spans, 'and')}`
}

/** The same window for a schedule without seconds, so that 09:00 to 17:00:59 reads naturally. */
function inWholeMinutes({ from, to }: TimeWindow): TimeWindow[] {
  const whole = { from: Math.ceil(from / 60) * 60, to: Math.floor(to / 60) * 60 }
  return whole.from <= whole.to ? [whole] : []
}

function isOnlyZero(values: readonly number[]): boolean {
  return values.length === 1 && values[0] === 0
}
