import { TreadleError } from '../errors.ts'
import { shown } from '../text/shown.ts'

/** Milliseconds, or a string such as `'30s'`, `'1h30m'` or `'250ms'`. */
export type Duration = number | string

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const wholeText = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g
const accepted = "a number of milliseconds or a string such as '250ms', '30s', '5m', '1h30m', '2d', '1w'"

/** Ten thousand years: added to any `now`, even several times, it still gives an instant that a `Date` can hold. */
export const longestDurationMs = 3_652_500 * 86_400_000

/** Parses a duration to whole milliseconds. `what` names the option in errors. */
export function parseDuration(value: Duration, what: string): number {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? textMs(value) : Number.NaN
  if (Number.isNaN(ms) || ms < 0) throw new TreadleError('DURATION_INVALID', `${what} must be ${accepted}, got ${shown(value)}`)
  if (ms > longestDurationMs) {
    const longest = formatDuration(longestDurationMs)
    throw new TreadleError('DURATION_INVALID', `${what} must be at most ${longest} (10000 years), got ${shown(value)}`)
  }
  return Math.round(ms)
}

/** The shortest string that parses to the same duration: `90_000` gives `'1m30s'`. */
export function formatDuration(ms: number): string {
  if (ms < 1) return '0ms'
  let rest = Math.round(ms)
  let text = ''
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = unitMs[unit] as number
    const count = Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text
}

function textMs(text: string): number {
  if (!wholeText.test(text)) return Number.NaN
  let ms = 0
  for (const [, count, unit] of text.matchAll(part)) ms += Number(count) * (unitMs[unit as string] as number)
  return ms
}
