import { TreadleError } from '../errors.ts'
import { shown } from '../text/shown.ts'

/** A moment in time: a `Date`, or an ISO 8601 string with an offset, such as `'2026-06-10T09:00:00Z'`. */
export type Instant = Date | string

const isoText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/
const accepted = "a valid Date or an ISO 8601 string with an offset, such as '2026-06-10T09:00:00Z'"

/** Parses an instant to UTC milliseconds. `what` names the option in errors. */
export function parseInstant(value: Instant, what: string): number {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? textMs(value) : Number.NaN
  if (Number.isNaN(ms)) {
    const got = value instanceof Date ? 'an invalid Date' : shown(value)
    throw new TreadleError('INSTANT_INVALID', `${what} must be ${accepted}, got ${got}`)
  }
  return ms
}

/** Rejects 31 February, which `Date.parse` would carry over into March. */
function textMs(text: string): number {
  if (!isoText.test(text)) return Number.NaN
  const day = Number(text.slice(8, 10))
  const lastDay = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate()
  return day <= lastDay ? Date.parse(text) : Number.NaN
}

/** ISO 8601 in UTC; milliseconds are omitted if they are zero. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
