import { now } from './calls.ts'
import { zoneName } from './settings.ts'

export { visible } from '../../../core/text/visible.ts'

const dayMs = 86_400_000
const plain = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function count(value: number): string {
  return value < 100_000 ? plain.format(Math.round(value)) : short.format(value)
}

export function exact(value: number): string {
  return plain.format(value)
}

export function perMinute(value: number): string {
  if (value >= 100) return `${count(value)}/min`
  if (value >= 1) return `${value.toFixed(1).replace(/\.0$/, '')}/min`
  return value === 0 ? '0/min' : `${(value * 60).toFixed(0)}/h`
}

export function share(value: number): string {
  if (value === 0) return '0 %'
  return value < 0.001 ? '<0.1 %' : `${(value * 100).toFixed(value >= 0.0995 ? 0 : 1)} %`
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  const [m, s] = [Math.floor(ms / 60_000), Math.round((ms % 60_000) / 1_000)]
  if (m < 60) return s === 0 || s === 60 ? `${m + (s === 60 ? 1 : 0)} m` : `${m} m ${s} s`
  const [h, left] = [Math.floor(m / 60), m % 60]
  if (h < 48) return left === 0 ? `${h} h` : `${h} h ${left} m`
  return `${Math.floor(h / 24)} d`
}

export function bytes(value: number): string {
  if (value < 1_024) return `${value} B`
  return value < 1_048_576 ? `${(value / 1_024).toFixed(1)} KB` : `${(value / 1_048_576).toFixed(1)} MB`
}

/** Up to a day as an age, after that as a date. */
export function ago(at: number): string {
  const since = now() - at
  if (since >= dayMs) return date(at)
  return since < 1_000 ? 'now' : `${coarse(since)} ago`
}

export function ahead(at: number): string {
  const left = at - now()
  if (left >= dayMs) return date(at)
  return left < 1_000 ? 'now' : `in ${coarse(left)}`
}

function coarse(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`
  return ms < 3_600_000 ? `${Math.floor(ms / 60_000)} m` : `${Math.floor(ms / 3_600_000)} h`
}

function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zoneName() })
}

/** The year is said if it is another one. */
function yearOf(at: number): Intl.DateTimeFormatOptions {
  const year = formatter({ year: 'numeric' })
  return year.format(at) === year.format(now()) ? {} : { year: 'numeric' }
}

export function date(at: number, seconds = false): string {
  return formatter({
    ...yearOf(at),
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    ...(seconds && { second: '2-digit' }),
  }).format(at)
}

export function precise(at: number): string {
  return formatter({
    ...yearOf(at),
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
  }).format(at)
}

export function clock(at: number, seconds = true): string {
  return formatter({ hour: '2-digit', minute: '2-digit', ...(seconds && { second: '2-digit' }) }).format(at)
}

export function day(at: number): string {
  return formatter({ weekday: 'short', day: 'numeric', month: 'short' }).format(at)
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}

/** The first four characters and the last four: jobs of the same minute all begin alike. */
export function shortId(id: string): string {
  return id.length > 12 ? `${id.slice(0, 4)}…${id.slice(-4)}` : id
}

export function jobsText(value: number): string {
  return value === 1 ? '1 job' : `${count(value)} jobs`
}

/** How far away it is, also in days. */
export function away(at: number): string {
  const left = at - now()
  return left < dayMs ? ahead(at) : `in ${Math.floor(left / dayMs)} d`
}

/** The start of the day that contains this instant, in the chosen zone. */
export function dayStart(at: number): number {
  const start = at - sinceMidnight(at)
  // If the clocks changed since midnight, by an hour or by half of one, this is as much before or after it.
  const off = sinceMidnight(start)
  return off < dayMs / 2 ? start - off : start + (dayMs - off)
}

/** What a clock of the chosen zone shows, in milliseconds. */
function sinceMidnight(at: number): number {
  const shown = formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }).formatToParts(at)
  const of = (name: string) => Number(shown.find(({ type }) => type === name)?.value)
  return ((of('hour') * 60 + of('minute')) * 60 + of('second')) * 1_000 + (at % 1_000)
}
