import { type Speaker, say, speaking } from '../../core/speaking.ts'
import type { Schedule } from '../schedule.ts'
import type { CalendarWords } from './calendar-words.ts'
import type { IntervalWords } from './interval-words.ts'
import type { RestrictionWords } from './restriction-words.ts'
import { SaidSchedule, scheduleWordNames } from './said-schedule.ts'

/**
 * When a job runs, with methods that can be chained in any order: `dailyAt('02:30').timezone('Europe/Paris').weekdays()`. An
 * invalid argument throws at the call; a contradictory combination throws when the schedule is built.
 */
export interface ScheduleWords extends CalendarWords, IntervalWords, RestrictionWords {
  /** The IANA time zone of the schedule. Defaults to that of the program, which is UTC unless configured. */
  timezone(zone: string): this
  /**
   * Counts from the previous run instead of following the calendar: `FINISHED, +1 HOUR`. The base is the moment it was
   * `SCHEDULED`, `STARTED` or `FINISHED`, followed by SQLite's date modifiers, in UTC. `HOURLY`, `DAILY` and `WEEKLY` run that
   * long after the end of the last run.
   */
  repeat(text: string): this
}

const Spoken = speaking(scheduleWordNames) as abstract new () => ScheduleWords & Speaker

/** Describes a schedule on its own, without a job. */
export class ScheduleDescription extends Spoken {
  readonly #said = new SaidSchedule()

  override [say](word: string, args: readonly unknown[]): void {
    this.#said.say(word, args)
  }

  /** Undefined if not given. */
  get zone(): string | undefined {
    return this.#said.zone
  }

  /** The schedule described so far, or null if there is none. */
  toSchedule(): Schedule | null {
    return this.#said.toSchedule()
  }
}
