import { messageOf } from '../../core/errors.ts'
import { calendarSchedule } from '../calendar/calendar-schedule.ts'
import { parseZone } from '../calendar/zone.ts'
import { parseRepeat, standsStill } from '../repeating/repeat.ts'
import type { CalendarSchedule, RepeatSchedule, Schedule } from '../schedule.ts'
import { compose, meaningless, methodsOf, type Restriction, type Said } from './composition.ts'
import type { FrequencyFields } from './frequencies.ts'

/** Keeps what was said about a schedule, call by call, and makes one of it. The words of the calendar are in `Frequency`. */
export abstract class ScheduleWords {
  readonly #frequencies: Said<FrequencyFields>[] = []
  readonly #restrictions: Said<Restriction>[] = []
  readonly #repeats: RepeatSchedule[] = []
  #timezone: string | undefined

  /** The IANA zone in which the times are meant; UTC unless this is called. */
  timezone(zone: string): this {
    this.beforeChange()
    parseZone(zone)
    this.#timezone = zone
    return this
  }

  /**
   * Counted from the run before in place of the calendar: `FINISHED, +1 HOUR`, from the moment it was `SCHEDULED`, `STARTED` or
   * `FINISHED`, with SQLite's date modifiers, in UTC. `HOURLY`, `DAILY` and `WEEKLY` are so long after the end of the last run.
   */
  repeat(text: string): this {
    this.beforeChange()
    const repeat = parseRepeat(text)
    const moment = standsStill(repeat)
    if (moment !== null) throw goesNowhere(repeat, moment)
    this.#repeats.push(repeat)
    return this
  }

  /** Called before every change; throws when it is too late for one. */
  protected abstract beforeChange(): void

  /** What the calls so far amount to, or null when there were none. */
  protected toSchedule(): Schedule | null {
    if (this.#repeats.length > 0) return this.#toRepeat()
    if (this.#frequencies.length > 0 || this.#restrictions.length > 0) return this.#toCalendar()
    if (this.#timezone === undefined) return null
    throw meaningless(`timezone('${this.#timezone}') was called without a frequency: add one, such as daily()`)
  }

  /** Keeps how often the job runs. The function is given what to call the method in an error. */
  protected frequency(method: string, fieldsOf: (method: string) => FrequencyFields): this {
    this.beforeChange()
    this.#frequencies.push({ method: `${method}()`, part: fieldsOf(`${method}()`) })
    return this
  }

  protected restriction(method: string, partOf: (method: string) => Restriction): this {
    this.beforeChange()
    this.#restrictions.push({ method: `${method}()`, part: partOf(`${method}()`) })
    return this
  }

  #toCalendar(): CalendarSchedule {
    const fields = compose(this.#frequencies, this.#restrictions)
    try {
      return calendarSchedule(fields, this.#timezone ?? 'UTC')
    } catch (cause) {
      if (this.#restrictions.length === 0) throw cause
      throw meaningless(`${methodsOf([...this.#frequencies, ...this.#restrictions])} together: ${messageOf(cause)}`, { cause })
    }
  }

  #toRepeat(): RepeatSchedule {
    const [repeat, ...others] = this.#repeats as [RepeatSchedule, ...RepeatSchedule[]]
    const calendar = [...this.#frequencies, ...this.#restrictions]
    if (calendar.length > 0)
      throw meaningless(`repeat() counts from the run before, so ${methodsOf(calendar)} can not be added: keep one of them`)
    if (others.length > 0) throw meaningless('repeat() was called twice: keep one of them')
    if (this.#timezone !== undefined && this.#timezone.toUpperCase() !== 'UTC')
      throw meaningless(`repeat() counts in UTC, so timezone('${this.#timezone}') can not be added: leave it out`)
    return repeat
  }
}

function goesNowhere({ expression }: RepeatSchedule, momentMs: number): Error {
  const at = new Date(momentMs).toISOString()
  return meaningless(
    `repeat('${expression}') would not lead into the future from a run at ${at}: begin with a step forward, such as +1 DAY`,
  )
}
