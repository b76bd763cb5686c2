import { TreadleError } from '../core/errors.ts'
import type { CronFields } from './cron-fields.ts'

/** How often a job runs, as the six cron fields. */
export const everySecond: CronFields = { second: '*', minute: '*', hour: '*', dayOfMonth: '*', month: '*', dayOfWeek: '*' }
export const everyMinute: CronFields = { ...everySecond, second: '0' }
export const hourly: CronFields = { ...everyMinute, minute: '0' }
export const daily: CronFields = { ...hourly, hour: '0' }
export const weekly: CronFields = { ...daily, dayOfWeek: '0' }
export const monthly: CronFields = { ...daily, dayOfMonth: '1' }
export const quarterly: CronFields = { ...monthly, month: '1,4,7,10' }
export const yearly: CronFields = { ...monthly, month: '1' }

export function everyMinutes(minutes: number, method: string): CronFields {
  refuseOutside(minutes, 1, 59, `${method} takes a number of minutes`)
  return minutes === 1 ? everyMinute : { ...everyMinute, minute: `*/${minutes}` }
}

export function hourlyAt(minute: number): CronFields {
  refuseOutside(minute, 0, 59, 'hourlyAt() takes a minute')
  return { ...hourly, minute: String(minute) }
}

export function dailyAt(time: string): CronFields {
  const [, hour, minute] = timeOfDay.exec(time) ?? []
  if (hour === undefined || minute === undefined) {
    throw new TreadleError(
      'SCHEDULE_INVALID',
      `dailyAt() takes a time from '00:00' to '23:59', such as '02:30', got ${show(time)}`,
    )
  }
  return { ...daily, hour: String(Number(hour)), minute: String(Number(minute)) }
}

const timeOfDay = /^([01]?\d|2[0-3]):([0-5]\d)$/

function refuseOutside(value: number, lowest: number, highest: number, what: string): void {
  if (Number.isInteger(value) && value >= lowest && value <= highest) return
  throw new TreadleError('SCHEDULE_INVALID', `${what} from ${lowest} to ${highest}, got ${show(value)}`)
}

function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
