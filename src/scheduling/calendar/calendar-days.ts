import { type ValueTable, valueTable } from './cron/value-table.ts'
import { dateOf, dayNumber, monthLength, weekdayOf } from './day-number.ts'
import type { DayBits, MonthDays } from './month-days.ts'

/** The days on which a schedule runs, as days since 1970; null if there is none. */
export interface CalendarDays {
  atOrAfter(day: number): number | null
  atOrBefore(day: number): number | null
}

export function calendarDays(years: ValueTable, namedMonths: readonly number[], daysIn: MonthDays): CalendarDays {
  const months = valueTable(namedMonths)
  const firstMonth = months.atOrAfter(1) as number
  const lastMonth = months.atOrBefore(12) as number
  const isNamed = (year: number, month: number) => years.has(year) && months.has(month)
  return {
    atOrAfter(number) {
      let { year, month, day } = dateOf(number)
      for (let tried = 0; tried < enoughMonths; tried++) {
        const days = isNamed(year, month) ? bitsOf(year, month) & (-1 << (day - 1)) : 0
        if (days !== 0) return dayNumber(year, month, lowestDay(days))
        const laterMonth = years.has(year) ? months.atOrAfter(month + 1) : null
        const laterYear = laterMonth === null ? years.atOrAfter(year + 1) : year
        if (laterYear === null) return null
        year = laterYear
        month = laterMonth ?? firstMonth
        day = 1
      }
      return null
    },
    atOrBefore(number) {
      let { year, month, day } = dateOf(number)
      for (let tried = 0; tried < enoughMonths; tried++) {
        const days = isNamed(year, month) ? bitsOf(year, month) & (-1 >>> (32 - day)) : 0
        if (days !== 0) return dayNumber(year, month, highestDay(days))
        const earlierMonth = years.has(year) ? months.atOrBefore(month - 1) : null
        const earlierYear = earlierMonth === null ? years.atOrBefore(year - 1) : year
        if (earlierYear === null) return null
        year = earlierYear
        month = earlierMonth ?? lastMonth
        day = 31
      }
      return null
    },
  }

  function bitsOf(year: number, month: number): DayBits {
    return daysIn(weekdayOf(dayNumber(year, month, 1)), monthLength(year, month))
  }
}

// More than any list of years covers, and more than the 400 years after which the calendar repeats.
const enoughMonths = 1_100 * 12

function lowestDay(bits: DayBits): number {
  return 32 - Math.clz32(bits & -bits)
}

function highestDay(bits: DayBits): number {
  return 32 - Math.clz32(bits)
}
