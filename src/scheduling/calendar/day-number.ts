/** Days since 1 January 1970. Works for all years, including those before 1. */
export function dayNumber(year: number, month: number, day: number): number {
  const yearsBefore = year - 1
  const leapDays = Math.floor(yearsBefore / 4) - Math.floor(yearsBefore / 100) + Math.floor(yearsBefore / 400)
  const beforeMonth = (daysBeforeMonth[month - 1] as number) + (month > 2 && isLeap(year) ? 1 : 0)
  return yearsBefore * 365 + leapDays + beforeMonth + day - 1 - daysBefore1970
}

const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
const daysBefore1970 = 719_162

export interface CalendarDate {
  readonly year: number
  /** From 1 to 12. */
  readonly month: number
  readonly day: number
}

export function dateOf(number: number): CalendarDate {
  // Based on the mean length of a year, this is the right year or an adjacent one.
  let year = 1970 + Math.floor(number / 365.2425)
  if (number < dayNumber(year, 1, 1)) year--
  else if (number >= dayNumber(year + 1, 1, 1)) year++
  // No month has more than 31 days, so this is the right month or the one before it.
  const dayOfYear = number - dayNumber(year, 1, 1)
  let month = Math.floor(dayOfYear / 31) + 1
  if (month < 12 && number >= dayNumber(year, month + 1, 1)) month++
  return { year, month, day: number - dayNumber(year, month, 1) + 1 }
}

/** 0 is Sunday. */
export function weekdayOf(number: number): number {
  return (((number + 4) % 7) + 7) % 7
}

export function monthLength(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : (monthLengths[month - 1] as number)
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}
