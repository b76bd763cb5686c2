import { type Speaker, say, speaking } from '../../core/speaking.ts'
import type { Schedule } from '../schedule.ts'
import type { CalendarWords } from './calendar-words.ts'
import type { IntervalWords } from './interval-words.ts'
import type { RestrictionWords } from './restriction-words.ts'
import { SaidSchedule, scheduleWordNames } from './said-schedule.ts'

/**
 * When a job runs, in words that can follow each other in any order: `dailyAt('02:30').timezone('Europe/Paris').weekdays()`.
 * A wrong argument throws at the call; words that make no sense together throw when the schedule is asked for.
 */
export interface ScheduleWords extends CalendarWords, IntervalWords, RestrictionWords {
  /** The IANA zone in which the times are meant; the program's, which is UTC unless it says otherwise, where this is not called. */
  timezone(zone: string): this
  /**
   * Counted from the run before in place of the calendar: `FINISHED, +1 HOUR`, from the moment it was `SCHEDULED`, `STARTED` or
   * `FINISHED`, with SQLite's date modifiers, in UTC. `HOURLY`, `DAILY` and `WEEKLY` are so long after the end of the last run.
   */
  repeat(text: string): this
}

const Spoken = speaking(scheduleWordNames) as abstract new () => ScheduleWords & Speaker

/** The words of a schedule by themselves, without a job. */
export class ScheduleDescription extends Spoken {
  readonly #said = new SaidSchedule()

  override [say](word: string, args: readonly unknown[]): void {
    this.#said.say(word, args)
  }

  /** Undefined where nothing was said of it. */
  get zone(): string | undefined {
    return this.#said.zone
  }

  /** What the words so far amount to, or null when there were none. */
  toSchedule(): Schedule | null {
    return this.#said.toSchedule()
  }
}
