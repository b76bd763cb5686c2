import { TreadleError } from '../core/errors.ts'
import { parseCron } from './cron.ts'
import { type CronFields, expressionOf, parseFields } from './cron-fields.ts'
import * as frequencies from './frequencies.ts'
import type { Restriction, Said } from './restrictions.ts'
import * as restrictions from './restrictions.ts'
import type { Schedule } from './schedule.ts'
import { parseZone } from './zone.ts'

/**
 * When a job runs, in words that can follow each other in any order: `dailyAt('02:30').timezone('Europe/Paris').weekdays()`.
 * A wrong argument throws at the call; words that make no sense together throw when the schedule is asked for.
 */
export abstract class Frequency {
  readonly #frequencies: Said<CronFields>[] = []
  readonly #restrictions: Said<Restriction>[] = []
  #timezone: string | undefined

  /** Five fields (minute first, at second 0) or six (second first). */
  cron(expression: string): this {
    return this.#run('cron()', () => {
      parseCron(expression, 'UTC')
      return parseFields(expression)
    })
  }

  /** The IANA zone in which the times are meant; UTC unless this is called. */
  timezone(zone: string): this {
    this.beforeChange()
    parseZone(zone)
    this.#timezone = zone
    return this
  }

  everySecond(): this {
    return this.#run('everySecond()', () => frequencies.everySecond)
  }

  /** Every minute, or every so many minutes. */
  everyMinute(minutes = 1): this {
    return this.#run('everyMinute()', () => frequencies.everyMinutes(minutes, 'everyMinute()'))
  }

  /** Counted from the full hour, anew in each hour. */
  everyXMinutes(minutes: number): this {
    return this.#run('everyXMinutes()', () => frequencies.everyMinutes(minutes, 'everyXMinutes()'))
  }

  hourly(): this {
    return this.#run('hourly()', () => frequencies.hourly)
  }

  hourlyAt(minute: number): this {
    return this.#run('hourlyAt()', () => frequencies.hourlyAt(minute))
  }

  /** At midnight. */
  daily(): this {
    return this.#run('daily()', () => frequencies.daily)
  }

  /** At a time such as `'02:30'`. */
  dailyAt(time: string): this {
    return this.#run('dailyAt()', () => frequencies.dailyAt(time))
  }

  /** On Sunday at midnight, where Sunday begins. */
  weekly(): this {
    return this.#run('weekly()', () => frequencies.weekly)
  }

  /** On the first of the month at midnight. */
  monthly(): this {
    return this.#run('monthly()', () => frequencies.monthly)
  }

  /** On the first of January, April, July and October at midnight. */
  quarterly(): this {
    return this.#run('quarterly()', () => frequencies.quarterly)
  }

  /** On the first of January at midnight. */
  yearly(): this {
    return this.#run('yearly()', () => frequencies.yearly)
  }

  /** Only from Monday to Friday. */
  weekdays(): this {
    return this.#only('weekdays()', restrictions.weekdays)
  }

  /** Only on Saturday and Sunday. */
  weekends(): this {
    return this.#only('weekends()', restrictions.weekends)
  }

  /** Called before every change; throws when it is too late for one. */
  protected abstract beforeChange(): void

  /** What the calls so far amount to, or null when there were none. */
  protected schedule(): Schedule | null {
    if (this.#frequencies.length === 0 && this.#restrictions.length === 0) {
      if (this.#timezone !== undefined) throw zoneAlone(this.#timezone)
      return null
    }
    const fields = restrictions.restrict(this.#frequencies, this.#restrictions)
    return parseCron(expressionOf(fields), this.#timezone ?? 'UTC')
  }

  #run(method: string, fieldsOf: () => CronFields): this {
    this.beforeChange()
    this.#frequencies.push({ method, fields: fieldsOf() })
    return this
  }

  #only(method: string, fields: Restriction): this {
    this.beforeChange()
    this.#restrictions.push({ method, fields })
    return this
  }
}

function zoneAlone(timezone: string): TreadleError {
  return new TreadleError(
    'SCHEDULE_INVALID',
    `The schedule has no meaning: timezone('${timezone}') was called without a frequency: add one, such as daily()`,
  )
}
