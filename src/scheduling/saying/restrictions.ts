import { type DayOfWeek, fieldOf, type Month, type OneOrMore } from './calendar-values.ts'
import { ScheduleWords } from './schedule-words.ts'
import { windowsBetween } from './written-times.ts'

/** The words that say more about a frequency. Where days of the month and of the week are both said, only days that fit both count. */
export abstract class Restrictions extends ScheduleWords {
  /** Only from Monday to Friday. */
  weekdays(): this {
    return this.restriction('weekdays', () => ({ kind: 'only', fields: { dayOfWeek: '1-5' } }))
  }

  /** Only on Saturday and Sunday. */
  weekends(): this {
    return this.restriction('weekends', () => ({ kind: 'only', fields: { dayOfWeek: '0,6' } }))
  }

  /** Only on Sundays; with other days, on each of them. */
  sundays(): this {
    return this.#onDay('sundays', 0)
  }

  /** Only on Mondays; with other days, on each of them. */
  mondays(): this {
    return this.#onDay('mondays', 1)
  }

  /** Only on Tuesdays; with other days, on each of them. */
  tuesdays(): this {
    return this.#onDay('tuesdays', 2)
  }

  /** Only on Wednesdays; with other days, on each of them. */
  wednesdays(): this {
    return this.#onDay('wednesdays', 3)
  }

  /** Only on Thursdays; with other days, on each of them. */
  thursdays(): this {
    return this.#onDay('thursdays', 4)
  }

  /** Only on Fridays; with other days, on each of them. */
  fridays(): this {
    return this.#onDay('fridays', 5)
  }

  /** Only on Saturdays; with other days, on each of them. */
  saturdays(): this {
    return this.#onDay('saturdays', 6)
  }

  /** Only on these days of the week: names, or numbers from 0 to 7, where 0 and 7 are Sunday. */
  daysOfWeek(days: OneOrMore<DayOfWeek>): this {
    return this.restriction('daysOfWeek', (method) => ({
      kind: 'at',
      fields: { dayOfWeek: fieldOf('dayOfWeek', days, method) },
    }))
  }

  /** Only on these days of the month, from 1 to 31. */
  daysOfMonth(days: OneOrMore<number>): this {
    return this.#onDaysOfMonth('daysOfMonth', days)
  }

  /** Only on these days of the month: another word for `daysOfMonth`. */
  days(days: OneOrMore<number>): this {
    return this.#onDaysOfMonth('days', days)
  }

  /** Only in these months: names, or numbers from 1 to 12. */
  months(months: OneOrMore<Month>): this {
    return this.restriction('months', (method) => ({ kind: 'at', fields: { month: fieldOf('month', months, method) } }))
  }

  /** At these hours, from 0 to 23: `daily().hours([9, 12])` runs at 09:00 and at 12:00. */
  hours(hours: OneOrMore<number>): this {
    return this.restriction('hours', (method) => ({ kind: 'at', fields: { hour: fieldOf('hour', hours, method) } }))
  }

  /** At these minutes, from 0 to 59: `hourly().minutes([0, 30])`. */
  minutes(minutes: OneOrMore<number>): this {
    return this.restriction('minutes', (method) => ({ kind: 'at', fields: { minute: fieldOf('minute', minutes, method) } }))
  }

  /** At these seconds, from 0 to 59: `everyMinute().seconds(30)`. */
  seconds(seconds: OneOrMore<number>): this {
    return this.restriction('seconds', (method) => ({ kind: 'at', fields: { second: fieldOf('second', seconds, method) } }))
  }

  /** Only from one time of day to another, both included; `('22:00', '06:00')` goes over midnight. Several add up. */
  between(from: string, to: string): this {
    return this.restriction('between', (method) => ({ kind: 'within', windows: windowsBetween(from, to, method) }))
  }

  /** Not from one time of day to another, both included; `('22:00', '06:00')` goes over midnight. */
  unlessBetween(from: string, to: string): this {
    return this.restriction('unlessBetween', (method) => ({ kind: 'without', windows: windowsBetween(from, to, method) }))
  }

  #onDay(method: string, day: number): this {
    return this.restriction(method, () => ({ kind: 'weekday', day }))
  }

  #onDaysOfMonth(word: string, days: OneOrMore<number>): this {
    return this.restriction(word, (method) => ({ kind: 'at', fields: { dayOfMonth: fieldOf('dayOfMonth', days, method) } }))
  }
}
