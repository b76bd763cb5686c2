import { formatDuration } from '../../../core/time/duration.ts'
import type { TreadleEvents } from '../../../execution/events.ts'
import { iso } from '../jobs/jobs.ts'
import type { Colours } from '../output.ts'
import { plural } from '../text.ts'
import { localTime } from '../time.ts'

type Tick = TreadleEvents['schedule:tick']

/** A tick at which nothing happened is not worth a line: there are 1440 of them a day. */
export function isWorthALine(tick: Tick, tickMs: number): boolean {
  return tick.enqueued > 0 || tick.failed > 0 || tookMs(tick) > tickMs
}

/** `· tick 2026-11-15 09:00:00  2 runs stored, next 2026-11-15 09:05:00` */
export function tickLine(tick: Tick, tickMs: number, colours: Colours): string {
  const stored = tick.enqueued === 0 ? 'nothing new' : `${plural(tick.enqueued, 'run')} stored`
  const next = tick.nextAt === null ? '' : `, next ${localTime(tick.nextAt)}`
  const trouble = [
    ...(tick.failed === 0 ? [] : [`${tick.failed} could not be stored`]),
    ...(tookMs(tick) <= tickMs ? [] : [`it took ${formatDuration(tookMs(tick))}, longer than the tick`]),
  ]
  const mark = trouble.length === 0 ? colours.dim('·') : colours.yellow('!')
  return [`${mark} tick ${localTime(tick.plannedAt)}  ${stored}${next}`, ...trouble].join('; ')
}

export function tickJson(tick: Tick): string {
  const { plannedAt, startedAt, endedAt, enqueued, failed, nextAt } = tick
  const times = { plannedAt: iso(plannedAt), startedAt: iso(startedAt), endedAt: iso(endedAt), nextAt: iso(nextAt) }
  return JSON.stringify({ event: 'schedule:tick', enqueued, failed, ...times, at: iso(endedAt) })
}

function tookMs({ startedAt, endedAt }: Tick): number {
  return endedAt - startedAt
}
