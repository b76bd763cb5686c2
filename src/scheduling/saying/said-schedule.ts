import { messageOf } from '../../core/errors.ts'
import { calendarSchedule } from '../calendar/calendar-schedule.ts'
import { parseZone } from '../calendar/zone.ts'
import type { CalendarSchedule, RepeatSchedule, Schedule } from '../schedule.ts'
import { calendarFrequencies } from './calendar-words.ts'
import { compose, meaningless, methodsOf, type Restriction, type Said } from './composition.ts'
import type { FrequencyFields } from './frequencies.ts'
import { intervals } from './interval-words.ts'
import { restrictions } from './restriction-words.ts'
import { soundRepeat } from './sound-repeat.ts'

type Meaning<Part> = (method: string, ...args: readonly unknown[]) => Part

const frequencyOf = new Map(Object.entries({ ...calendarFrequencies, ...intervals })) as Map<string, Meaning<FrequencyFields>>
const restrictionOf = new Map(Object.entries(restrictions)) as Map<string, Meaning<Restriction>>

export const scheduleWordNames: readonly string[] = [...frequencyOf.keys(), ...restrictionOf.keys(), 'timezone', 'repeat']

/** Collects the method calls that describe a schedule, and builds it. */
export class SaidSchedule {
  readonly #frequencies: Said<FrequencyFields>[] = []
  readonly #restrictions: Said<Restriction>[] = []
  readonly #repeats: RepeatSchedule[] = []
  readonly #zones = new Set<string>()

  say(word: string, args: readonly unknown[]): void {
    const method = `${word}()`
    const frequency = frequencyOf.get(word)
    const restriction = restrictionOf.get(word)
    if (frequency !== undefined) this.#frequencies.push({ method, part: frequency(method, ...args) })
    else if (restriction !== undefined) this.#restrictions.push({ method, part: restriction(method, ...args) })
    else if (word === 'timezone') this.#zones.add(knownZone(args[0]))
    else this.#repeats.push(soundRepeat(args[0]))
  }

  /** Undefined if not given. */
  get zone(): string | undefined {
    return this.#zone
  }

  get #zone(): string | undefined {
    const [zone] = this.#zones
    return zone
  }

  /** The schedule described so far, or null if there is none. */
  toSchedule(): Schedule | null {
    if (this.#zones.size > 1) {
      const said = [...this.#zones].map((zone) => `timezone('${zone}')`)
      throw meaningless(`${said.join(' and ')} contradict each other: keep one of them`)
    }
    if (this.#repeats.length > 0) return this.#toRepeat()
    if (this.#frequencies.length > 0 || this.#restrictions.length > 0) return this.#toCalendar()
    if (this.#zone === undefined) return null
    throw meaningless(`timezone('${this.#zone}') was called without a frequency: add one, such as daily()`)
  }

  #toCalendar(): CalendarSchedule {
    const fields = compose(this.#frequencies, this.#restrictions)
    try {
      return calendarSchedule(fields, this.#zone ?? 'UTC')
    } catch (cause) {
      if (this.#restrictions.length === 0) throw cause
      throw meaningless(`${methodsOf([...this.#frequencies, ...this.#restrictions])} together: ${messageOf(cause)}`, { cause })
    }
  }

  #toRepeat(): RepeatSchedule {
    const [repeat, ...others] = this.#repeats as [RepeatSchedule, ...RepeatSchedule[]]
    const calendar = [...this.#frequencies, ...this.#restrictions]
    if (calendar.length > 0)
      throw meaningless(`repeat() counts from the run before, so ${methodsOf(calendar)} cannot be added: keep one of them`)
    if (others.length > 0) throw meaningless('repeat() was called twice: keep one of them')
    if (this.#zone !== undefined && this.#zone.toUpperCase() !== 'UTC')
      throw meaningless(`repeat() counts in UTC, so timezone('${this.#zone}') cannot be added: leave it out`)
    return repeat
  }
}

function knownZone(zone: unknown): string {
  parseZone(zone as string)
  return zone as string
}
