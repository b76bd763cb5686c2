// Those that know when a schedule is due next, each behind the same call.
import { createRequire } from 'node:module'

/**
 * What is asked for. Only Treadle can say everything in one expression; the others get the nearest one and `dayOfWeek`.
 *
 * @typedef {object} Asked
 * @property {string} cron five fields
 * @property {string} timezone
 * @property {number} [dayOfWeek] a day that also has to be on this day of the week
 */

/** @typedef {(asked: Asked) => (afterMs: number) => number} Open */

/** @type {() => Promise<Open>} */
export async function treadleSchedules() {
  const { calendarSchedule } = await import('../../build/scheduling/calendar/calendar-schedule.js')
  const { parseFields } = await import('../../build/scheduling/calendar/cron-fields.js')
  return ({ cron, timezone, dayOfWeek }) => {
    const fields = parseFields(cron)
    const both = dayOfWeek === undefined ? fields : { ...fields, dayOfWeek: String(dayOfWeek), days: 'both' }
    return calendarSchedule(both, timezone).next
  }
}

/** @type {() => Promise<Open>} */
export async function cronerSchedules() {
  const { Cron } = requireFromTreadle('croner')
  return ({ cron, timezone, dayOfWeek }) => {
    const expression = dayOfWeek === undefined ? cron : cron.replace(/\*$/, String(dayOfWeek))
    // The faster of its two ways to say UTC.
    const zone = timezone === 'UTC' ? { utcOffset: 0 } : { timezone }
    const schedule = new Cron(expression, { ...zone, domAndDow: dayOfWeek !== undefined })
    return (afterMs) => schedule.nextRun(new Date(afterMs)).getTime()
  }
}

/** It joins the two days by "or" only, so the other days are passed over one by one. @type {() => Promise<Open>} */
export async function cronParserSchedules() {
  const { CronExpressionParser } = requireFromTreadle('cron-parser')
  return ({ cron, timezone, dayOfWeek }) => {
    const schedule = CronExpressionParser.parse(cron, { tz: timezone })
    let lastMs
    return (afterMs) => {
      // It goes on from its last answer by itself, and faster.
      if (afterMs !== lastMs) schedule.reset(new Date(afterMs))
      let next = schedule.next()
      while (dayOfWeek !== undefined && next.getDay() !== dayOfWeek) next = schedule.next()
      lastMs = next.getTime()
      return lastMs
    }
  }
}

/** The versions that Treadle is tested with: plainjob brings an older one into this folder. */
const requireFromTreadle = createRequire(new URL('../../package.json', import.meta.url))
