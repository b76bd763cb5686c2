import type { OneOrMore } from './calendar-values.ts'
import { everyHours, everyMinutes, everyOddHour, everySeconds, type FrequencyFields, hourly, hourlyAt } from './frequencies.ts'
import type { Meanings } from './meanings.ts'

/** Schedules of less than a day. Steps count from the full minute, hour or day, and divide it evenly. */
export interface IntervalWords {
  everySecond(): this
  everyTwoSeconds(): this
  everyFiveSeconds(): this
  everyTenSeconds(): this
  everyFifteenSeconds(): this
  everyTwentySeconds(): this
  everyThirtySeconds(): this
  /** The number must divide the minute: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. */
  everyXSeconds(seconds: number): this
  /** Every minute (also if it is null), or every given number of minutes, as with `everyXMinutes`. */
  everyMinute(minutes?: number | null): this
  everyTwoMinutes(): this
  everyThreeMinutes(): this
  everyFourMinutes(): this
  everyFiveMinutes(): this
  everyTenMinutes(): this
  everyFifteenMinutes(): this
  everyTwentyMinutes(): this
  everyThirtyMinutes(): this
  /** The number must divide the hour: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30. */
  everyXMinutes(minutes: number): this
  /** Every hour, on the hour. */
  hourly(): this
  /** Alias of `hourly`. */
  everyHour(): this
  /** Every hour, at one or more given minutes. */
  hourlyAt(minutes: OneOrMore<number>): this
  /** At 01:00, 03:00 and so on until 23:00. */
  everyOddHour(): this
  /** At 00:00, 02:00, 04:00 and so on. */
  everyTwoHours(): this
  /** At 00:00, 03:00, 06:00 and so on. */
  everyThreeHours(): this
  /** At 00:00, 04:00, 08:00, 12:00, 16:00 and 20:00. */
  everyFourHours(): this
  /** At 00:00, 06:00, 12:00 and 18:00. */
  everySixHours(): this
  /** At 00:00, 08:00 and 16:00. */
  everyEightHours(): this
  /** At 00:00 and 12:00. */
  everyTwelveHours(): this
  /** The number must divide the day: 1, 2, 3, 4, 6, 8 or 12, counted from midnight. */
  everyXHours(hours: number): this
}

export const intervals: Meanings<IntervalWords, FrequencyFields> = {
  everySecond: (method) => everySeconds(1, method),
  everyTwoSeconds: (method) => everySeconds(2, method),
  everyFiveSeconds: (method) => everySeconds(5, method),
  everyTenSeconds: (method) => everySeconds(10, method),
  everyFifteenSeconds: (method) => everySeconds(15, method),
  everyTwentySeconds: (method) => everySeconds(20, method),
  everyThirtySeconds: (method) => everySeconds(30, method),
  everyXSeconds: (method, seconds) => everySeconds(seconds, method),
  everyMinute: (method, minutes) => everyMinutes(minutes ?? 1, method),
  everyTwoMinutes: (method) => everyMinutes(2, method),
  everyThreeMinutes: (method) => everyMinutes(3, method),
  everyFourMinutes: (method) => everyMinutes(4, method),
  everyFiveMinutes: (method) => everyMinutes(5, method),
  everyTenMinutes: (method) => everyMinutes(10, method),
  everyFifteenMinutes: (method) => everyMinutes(15, method),
  everyTwentyMinutes: (method) => everyMinutes(20, method),
  everyThirtyMinutes: (method) => everyMinutes(30, method),
  everyXMinutes: (method, minutes) => everyMinutes(minutes, method),
  hourly: () => hourly,
  everyHour: () => hourly,
  hourlyAt: (method, minutes) => hourlyAt(minutes, method),
  everyOddHour: () => everyOddHour,
  everyTwoHours: (method) => everyHours(2, method),
  everyThreeHours: (method) => everyHours(3, method),
  everyFourHours: (method) => everyHours(4, method),
  everySixHours: (method) => everyHours(6, method),
  everyEightHours: (method) => everyHours(8, method),
  everyTwelveHours: (method) => everyHours(12, method),
  everyXHours: (method, hours) => everyHours(hours, method),
}
