import { formatDuration } from '../../core/time/duration.ts'
import { parseZone } from '../../scheduling/calendar/zone.ts'
import { localText } from '../../scheduling/explaining/local-time.ts'

/** `2026-06-10 09:00:00`, in the local time zone. */
export function localTime(ms: number): string {
  const date = new Date(ms)
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')}`
}

/** `2026-06-10 09:00:00 +02:00`, in the zone of a schedule. */
export function zonedTime(ms: number, zone: string): string {
  return localText(parseZone(zone), ms)
}

/** `3m ago`, `in 2h`, `now`. */
export function relativeTime(ms: number, now: number): string {
  const distance = Math.abs(ms - now)
  if (distance < 1_000) return 'now'
  return ms < now ? `${roughly(distance)} ago` : `in ${roughly(distance)}`
}

export function timeAndAge(ms: number, now: number): string {
  return `${localTime(ms)} (${relativeTime(ms, now)})`
}

/** Only the one or two largest units: the milliseconds of three days do not matter. */
export function roughly(ms: number): string {
  const grain = grains.find(({ from }) => ms >= from)?.grain ?? 1
  return formatDuration(Math.floor(ms / grain) * grain)
}

const grains = [
  { from: 10 * 86_400_000, grain: 86_400_000 },
  { from: 86_400_000, grain: 3_600_000 },
  { from: 3_600_000, grain: 60_000 },
  { from: 1_000, grain: 1_000 },
] as const

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
