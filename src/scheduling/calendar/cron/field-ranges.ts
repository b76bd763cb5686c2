import type { CronFields } from '../calendar-fields.ts'

export type FieldName = keyof CronFields | 'year'

export interface FieldRange {
  /** The field's name in messages. */
  readonly label: string
  readonly lowest: number
  readonly highest: number
  /** The format of a number. */
  readonly digits: RegExp
  /** Names for the values, starting with the lowest. */
  readonly names: readonly string[]
  /** The values repeat after this many: weekday 7 is 0 again. */
  readonly cycle?: number
  /** The accepted values, for error messages. */
  readonly accepted: string
}

const twoDigits = /^\d{1,2}$/

export const fieldRanges: { readonly [Name in FieldName]: FieldRange } = {
  second: numbers('second', 0, 59),
  minute: numbers('minute', 0, 59),
  hour: numbers('hour', 0, 23),
  dayOfMonth: {
    ...numbers('day of month', 1, 31),
    accepted: 'a number from 1 to 31, L (the last day), LW (the last weekday), 15W (the weekday nearest to the 15th)',
  },
  month: {
    ...numbers('month', 1, 12),
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
    accepted: 'a number from 1 to 12, a name from JAN to DEC',
  },
  dayOfWeek: {
    ...numbers('day of week', 0, 7),
    names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
    cycle: 7,
    accepted:
      'a number from 0 to 7 (0 and 7 are Sunday), a name from SUN to SAT, 5L (the last Friday), MON#2 (the second Monday)',
  },
  year: { ...numbers('year', 1_970, 2_999), digits: /^\d{4}$/ },
}

function numbers(label: string, lowest: number, highest: number): FieldRange {
  return { label, lowest, highest, digits: twoDigits, names: [], accepted: `a number from ${lowest} to ${highest}` }
}
