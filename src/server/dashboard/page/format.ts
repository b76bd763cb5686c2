import { now } from './calls.ts'
import { zoneName } from './settings.ts'

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
  if (since >= 86_400_000) return date(at)
  return since < 1_000 ? 'now' : `${coarse(since)} ago`
}

export function ahead(at: number): string {
  const left = at - now()
  if (left >= 86_400_000) return date(at)
  return left < 1_000 ? 'now' : `in ${coarse(left)}`
}

function coarse(ms: number): string {
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`
  return ms < 3_600_000 ? `${Math.floor(ms / 60_000)} m` : `${Math.floor(ms / 3_600_000)} h`
}

function formatter(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zoneName() })
}

export function date(at: number): string {
  return formatter({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(at)
}

export function precise(at: number): string {
  return formatter({
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

const hidden = /[\p{Cf}\u2028\u2029\u115f\u1160\u3164\uffa0]|\u034f|[^\P{Cc}\n\t]/gu

/** Replaces invisible characters, and those that change the text direction, with visible ones. */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The start of the day that contains this instant, in the chosen zone. */
export function dayStart(at: number): number {
  const parts = Object.fromEntries(
    formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const start = at - (at % 1_000) - (((parts.hour ?? 0) * 60 + (parts.minute ?? 0)) * 60 + (parts.second ?? 0)) * 1_000
  // If the clocks changed since midnight, the hour is off.
  const off = Number(formatter({ hour: '2-digit', hourCycle: 'h23' }).format(start).replace(/\D/g, ''))
  return off === 0 ? start : off < 12 ? start - off * 3_600_000 : start + (24 - off) * 3_600_000
}
