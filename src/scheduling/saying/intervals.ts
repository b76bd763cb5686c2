import type { OneOrMore } from './calendar-values.ts'
import { everyHours, everyMinutes, everyOddHour, everySeconds, hourly, hourlyAt } from './frequencies.ts'
import { Restrictions } from './restrictions.ts'

/** The frequencies of less than a day. Steps are counted from the full minute, hour or day, and divide it evenly. */
export abstract class Intervals extends Restrictions {
  everySecond(): this {
    return this.frequency('everySecond', (method) => everySeconds(1, method))
  }

  everyTwoSeconds(): this {
    return this.frequency('everyTwoSeconds', (method) => everySeconds(2, method))
  }

  everyFiveSeconds(): this {
    return this.frequency('everyFiveSeconds', (method) => everySeconds(5, method))
  }

  everyTenSeconds(): this {
    return this.frequency('everyTenSeconds', (method) => everySeconds(10, method))
  }

  everyFifteenSeconds(): this {
    return this.frequency('everyFifteenSeconds', (method) => everySeconds(15, method))
  }

  everyTwentySeconds(): this {
    return this.frequency('everyTwentySeconds', (method) => everySeconds(20, method))
  }

  everyThirtySeconds(): this {
    return this.frequency('everyThirtySeconds', (method) => everySeconds(30, method))
  }

  /** A number that divides the minute: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. */
  everyXSeconds(seconds: number): this {
    return this.frequency('everyXSeconds', (method) => everySeconds(seconds, method))
  }

  /** Every minute, or every so many minutes: as `everyXMinutes`. */
  everyMinute(minutes = 1): this {
    return this.frequency('everyMinute', (method) => everyMinutes(minutes, method))
  }

  everyTwoMinutes(): this {
    return this.frequency('everyTwoMinutes', (method) => everyMinutes(2, method))
  }

  everyThreeMinutes(): this {
    return this.frequency('everyThreeMinutes', (method) => everyMinutes(3, method))
  }

  everyFourMinutes(): this {
    return this.frequency('everyFourMinutes', (method) => everyMinutes(4, method))
  }

  everyFiveMinutes(): this {
    return this.frequency('everyFiveMinutes', (method) => everyMinutes(5, method))
  }

  everyTenMinutes(): this {
    return this.frequency('everyTenMinutes', (method) => everyMinutes(10, method))
  }

  everyFifteenMinutes(): this {
    return this.frequency('everyFifteenMinutes', (method) => everyMinutes(15, method))
  }

  everyThirtyMinutes(): this {
    return this.frequency('everyThirtyMinutes', (method) => everyMinutes(30, method))
  }

  /** A number that divides the hour: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. */
  everyXMinutes(minutes: number): this {
    return this.frequency('everyXMinutes', (method) => everyMinutes(minutes, method))
  }

  /** At the full hour. */
  hourly(): this {
    return this.frequency('hourly', () => hourly)
  }

  /** Another word for `hourly`. */
  everyHour(): this {
    return this.frequency('everyHour', () => hourly)
  }

  /** At a minute of every hour, or at several. */
  hourlyAt(minutes: OneOrMore<number>): this {
    return this.frequency('hourlyAt', (method) => hourlyAt(minutes, method))
  }

  /** At 01:00, 03:00 and so on, to 23:00. */
  everyOddHour(): this {
    return this.frequency('everyOddHour', () => everyOddHour)
  }

  /** At 00:00, 02:00, 04:00 and so on. */
  everyTwoHours(): this {
    return this.frequency('everyTwoHours', (method) => everyHours(2, method))
  }

  /** At 00:00, 03:00, 06:00 and so on. */
  everyThreeHours(): this {
    return this.frequency('everyThreeHours', (method) => everyHours(3, method))
  }

  /** At 00:00, 04:00, 08:00, 12:00, 16:00 and 20:00. */
  everyFourHours(): this {
    return this.frequency('everyFourHours', (method) => everyHours(4, method))
  }

  /** At 00:00, 06:00, 12:00 and 18:00. */
  everySixHours(): this {
    return this.frequency('everySixHours', (method) => everyHours(6, method))
  }

  /** At 00:00 and 12:00. */
  everyTwelveHours(): this {
    return this.frequency('everyTwelveHours', (method) => everyHours(12, method))
  }

  /** A number that divides the day: 1, 2, 3, 4, 6, 8 or 12, counted from midnight. */
  everyXHours(hours: number): this {
    return this.frequency('everyXHours', (method) => everyHours(hours, method))
  }
}
