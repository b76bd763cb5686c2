import { TreadleError } from '../../../core/errors.ts'
import { writtenReason } from '../../../core/text/reason.ts'
import { formatDuration } from '../../../core/time/duration.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import type { RunEvent, TreadleEvents } from '../../../execution/events.ts'
import { loadText } from '../../../worker/health/load/load-text.ts'
import type { RunReport } from '../../../worker/runs/report.ts'
import { mostLeftOut } from '../../../worker/scheduler/occurrence-plan.ts'
import { iso } from '../jobs/jobs.ts'
import type { Colours } from '../output.ts'
import { plural, visibleLine } from '../text.ts'
import { roughly } from '../time.ts'

export type LoggedEvent = Exclude<
  keyof TreadleEvents,
  | 'job:dispatched'
  | 'job:started'
  | 'job:unsigned'
  | 'worker:started'
  | 'worker:error'
  | 'worker:stalled'
  | 'worker:breaker'
  | 'schedule:enqueued'
  | 'schedule:tick'
>
type Writers = { readonly [Name in LoggedEvent]: (event: TreadleEvents[Name], colours: Colours) => string }

/** How jobs end, and what schedules missed. The logger reports errors and stalls of the worker itself, and unsigned jobs. */
export const loggedEvents: readonly LoggedEvent[] = [
  'job:succeeded',
  'job:failed',
  'job:dead',
  'job:cancelled',
  'job:skipped',
  'job:snoozed',
  'job:waiting',
  'job:released',
  'job:lost',
  'job:abandoned',
  'job:overrun',
  'schedule:missed',
  'worker:load',
]

const trouble: readonly LoggedEvent[] = ['job:failed', 'job:dead', 'job:lost', 'job:abandoned', 'job:overrun', 'schedule:missed']

export function isTrouble(name: LoggedEvent): boolean {
  return trouble.includes(name)
}

/** One line for people, such as `✓ send-email 0190d1a2-… 12ms`. */
export function eventLine<Name extends LoggedEvent>(name: Name, event: TreadleEvents[Name], colours: Colours): string {
  return writers[name](event, colours)
}

/** The same for programs: one JSON object. */
export function eventJson<Name extends LoggedEvent>(name: Name, event: TreadleEvents[Name], now: number): string {
  const error = 'error' in event ? { error: errorJson(event.error) } : {}
  const took = 'durationMs' in event ? { durationMs: Math.round(event.durationMs * 1_000) / 1_000 } : {}
  const missed = 'madeUp' in event ? missedJson(event) : {}
  return JSON.stringify({ event: name, ...event, ...error, ...took, ...missed, at: iso(now) })
}

export function missedJson(missed: TreadleEvents['schedule:missed']): object {
  return { ...missed, madeUp: missed.madeUp.map(iso) }
}

export function deathJson(death: TreadleEvents['job:dead']): object {
  return { ...death, error: errorJson(death.error) }
}

/** `3 succeeded, 1 dead`; only the counts that are not zero. */
export function reportText(report: RunReport): string {
  const counts = Object.entries(reportWording).map(([key, word]) => [report[key as keyof RunReport], word] as const)
  const parts = counts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`]))
  return parts.join(', ')
}

/** `digest was due while no scheduler was running: 1 run caught up (due 2026-06-10T09:00:00Z), 49 left out` */
export function missedText({ schedule, madeUp, leftOut }: TreadleEvents['schedule:missed']): string {
  const made = madeUp.length === 0 ? [] : [`${plural(madeUp.length, 'run')} caught up (due ${dueText(madeUp)})`]
  const parts = [...made, ...(leftOut === 0 ? [] : [leftOutText(leftOut)])]
  return `${visibleLine(schedule)} was due while no scheduler was running: ${parts.join(', ')}`
}

const writers: Writers = {
  'job:succeeded': (event, colours) =>
    `${colours.green('✓')} ${runText(event, colours)} ${colours.dim(formatDuration(event.durationMs))}`,
  'job:failed': (event, colours) => {
    const again = event.retryInMs < 1 ? 'retried at once' : `retried in ${roughly(event.retryInMs)}`
    return `${colours.yellow('↻')} ${runText(event, colours)} attempt ${event.attempt}: ${errorText(event.error)} ${colours.dim(`(${again})`)}`
  },
  'job:dead': (event, colours) =>
    `${colours.red('✗')} ${runText(event, colours)} dead (${event.reason}) at attempt ${event.attempt}: ${errorText(event.error)}`,
  'job:cancelled': (event, colours) => `${colours.dim('-')} ${runText(event, colours)} cancelled`,
  'job:skipped': (event, colours) => `${colours.dim('-')} ${runText(event, colours)} skipped: ${visibleLine(event.why)}`,
  'job:snoozed': (event, colours) =>
    `${colours.dim('-')} ${runText(event, colours)} ${event.why === null ? `snoozed for ${roughly(event.delayMs)}` : visibleLine(event.why)}`,
  'job:waiting': (event, colours) => `${colours.yellow('~')} ${runText(event, colours)} is waiting for its children`,
  'job:released': (event, colours) => `${colours.dim('-')} ${runText(event, colours)} returned unfinished`,
  'job:lost': (event, colours) => `${colours.yellow('!')} ${runText(event, colours)} lost to another worker: it may run twice`,
  'job:abandoned': (event, colours) =>
    `${colours.yellow('!')} ${runText(event, colours)} did not stop when asked to, and was abandoned`,
  'job:overrun': (event, colours) =>
    `${colours.yellow('!')} ${runText(event, colours)} was asked to stop ${roughly(event.overrunMs)} ago and is still running`,
  'worker:load': (event, colours) => `${colours.dim('-')} ${loadText(event)}`,
  'schedule:missed': (event, colours) => `${colours.yellow('!')} ${missedText(event)}`,
}

const reportWording: Readonly<Record<keyof RunReport, string>> = {
  enqueued: 'queued by schedules',
  failedSchedules: 'failed to be queued by schedules',
  succeeded: 'succeeded',
  retried: 'retried',
  snoozed: 'snoozed',
  dead: 'dead',
  cancelled: 'cancelled',
  skipped: 'skipped',
  lost: 'lost to other workers',
  waiting: 'waiting for children',
  released: 'given back',
}

function dueText(times: readonly number[]): string {
  const [first = 0, last = first] = [times[0], times.at(-1)]
  return first === last ? formatInstant(first) : `${formatInstant(first)} to ${formatInstant(last)}`
}

/** The count stops at a maximum. */
function leftOutText(leftOut: number): string {
  const count = leftOut < mostLeftOut ? String(leftOut) : `${mostLeftOut.toLocaleString('en')} or more`
  return `${count} left out`
}

function runText({ name, id }: RunEvent, colours: Colours): string {
  return `${visibleLine(name)} ${colours.dim(visibleLine(id))}`
}

function errorText(error: unknown): string {
  return visibleLine(writtenReason(error).message)
}

function errorJson(error: unknown): object {
  return { message: writtenReason(error).message, ...(error instanceof TreadleError && { code: error.code }) }
}
