import { dayWords, yearWords } from './day-words.ts'
import type { NamedTimes } from './named-times.ts'
import { timeWords } from './time-words.ts'

/**
 * A sentence that describes these times: "At 02:30 from Monday to Friday". Different times produce different sentences.
 */
export function wordsOf(times: NamedTimes): string {
  const time = timeWords(times)
  const days = daysAfter(time, dayWords(times))
  const years = yearWords(times.years)
  if (years === '') return `${time}${days}`
  return days === '' ? `${time}${daysAfter(time, years)}` : `${time}${days}, ${years}`
}

/** "At 02:30" already means every day, except next to a month. */
function daysAfter(time: string, days: string): string {
  if (days === '') return ''
  if (days.startsWith('in ') && !/every/i.test(time)) return ` every day ${days}`
  const isMisread = /from|between/.test(time) && days.startsWith('from')
  return `${isMisread ? ',' : ''} ${days}`
}

/** Whether another time zone would produce other instants; offsets from UTC are multiples of a quarter of an hour. */
export function dependsOnZone({ minutes, hours, days, months, years, windows }: NamedTimes): boolean {
  const isEveryDay = days.ofMonth === null && days.ofWeek === null && months.isAll && years.isAll
  const isEveryQuarter = minutes.values.every((minute) => minutes.values.includes((minute + 15) % 60))
  return !(isEveryDay && isEveryQuarter && hours.isAll && windows.length === 0)
}
