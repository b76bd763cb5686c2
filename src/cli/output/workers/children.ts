import { messageOf } from '../../../core/errors.ts'
import type { ChildEvent, SupervisorEvents } from '../../../worker/supervisor/events.ts'
import type { Exit } from '../../../worker/supervisor/messages.ts'
import type { SupervisorReport } from '../../../worker/supervisor/supervisor.ts'
import { iso } from '../jobs/jobs.ts'
import type { Colours } from '../output.ts'
import { plural, visibleLine } from '../text.ts'
import { roughly } from '../time.ts'
import { reportText } from './work-log.ts'

// Messages about worker processes, and their output.

export type SupervisorEventName = keyof SupervisorEvents
type Writers = { readonly [Name in SupervisorEventName]: (event: SupervisorEvents[Name], colours: Colours) => string }

/** Whether it is a problem rather than normal operation. */
export function isChildTrouble<Name extends SupervisorEventName>(name: Name, event: SupervisorEvents[Name]): boolean {
  if (name === 'child:ended') return !(event as SupervisorEvents['child:ended']).expected
  return name === 'child:overdue' || name === 'child:overstayed' || name === 'roll:failed' || name === 'supervisor:error'
}

export function childEventLine<Name extends SupervisorEventName>(
  name: Name,
  event: SupervisorEvents[Name],
  colours: Colours,
): string {
  const mark = isChildTrouble(name, event) ? colours.yellow('!') : colours.dim('·')
  return `${mark} ${writers[name](event, colours)}`
}

export function childEventJson<Name extends SupervisorEventName>(name: Name, event: SupervisorEvents[Name], now: number): string {
  const error = 'error' in event ? { error: { message: messageOf(event.error) } } : {}
  return JSON.stringify({ event: name, ...event, ...error, at: iso(now) })
}

/** `[2] ✓ send-email 0190d1a2-… 12ms` */
export function childLine({ child }: ChildEvent, line: string, colours: Colours): string {
  return `${colours.dim(`[${child}]`)} ${line}`
}

/** Wraps what a handler prints in an object too, so that readers can rely on every line being one. */
export function childJson({ child, pid }: ChildEvent, line: string): string {
  const said = jsonObject(line) ?? { event: 'output', text: line }
  return JSON.stringify({ ...said, child, pid })
}

/** `uncounted` is the number of processes that ended without a report. */
export function supervisorStoppedText(report: SupervisorReport & { readonly uncounted: number }): string {
  const { died, uncounted } = report
  const deaths = died === 0 ? '' : `; ${plural(died, 'process', 'processes')} died`
  const nothing = uncounted === 0 ? 'nothing was done' : 'nothing is counted'
  return `stopped: ${reportText(report) || nothing}${deaths}${uncountedText(uncounted)}`
}

function uncountedText(uncounted: number): string {
  if (uncounted === 0) return ''
  return `; not counting what ${plural(uncounted, 'process', 'processes')} did before ${uncounted === 1 ? 'it was' : 'they were'} killed`
}

const replacementWording = {
  jobs: 'it reached --max-jobs',
  memory: 'it reached --max-memory',
  abandoned: 'it had to abandon a handler',
  roll: 'rolling',
} as const

const writers: Writers = {
  'child:started': (event, colours) => `${processText(event, colours)} started`,
  'child:ready': (event, colours) => `${processText(event, colours)} ready`,
  'child:replaced': (event, colours) => `${processText(event, colours)} is replaced: ${replacementWording[event.why]}`,
  'child:overdue': (event, colours) =>
    `${processText(event, colours)} is killed: ${visibleLine(event.job)} ${colours.dim(event.id)} has exceeded its timeout and does not stop`,
  'child:overstayed': (event, colours) => `${processText(event, colours)} is killed: it did not exit when asked to`,
  'child:ended': (event, colours) => {
    const parts = [
      `${processText(event, colours)} ${exitText(event)}`,
      ...(event.returned === 0 ? [] : [`${plural(event.returned, 'job')} given back`]),
      ...(event.poisoned === 0 ? [] : [`${plural(event.poisoned, 'job')} dead as poisoned`]),
      ...(event.restartInMs === null ? [] : [`another one starts in ${roughly(event.restartInMs)}`]),
    ]
    return parts.join(', ')
  },
  'roll:started': ({ children }) => `rolling: ${plural(children, 'process', 'processes')}, one after the other`,
  'roll:ended': ({ replaced }) => `rolled: ${plural(replaced, 'process', 'processes')} replaced`,
  'roll:failed': ({ replaced, failure }) => {
    const why = failure === null ? 'a new process ended before it was ready' : visibleLine(failure.message)
    return `the rolling restart was stopped after ${plural(replaced, 'process', 'processes')}, the others keep running: ${why}`
  },
  'supervisor:error': ({ error }) => visibleLine(messageOf(error)),
}

function processText({ child, pid }: ChildEvent, colours: Colours): string {
  return `process ${child} ${colours.dim(`(pid ${pid})`)}`
}

function exitText({ code, signal }: Exit): string {
  if (signal !== null) return `was killed by ${signal}`
  return code === null ? 'could not be started' : `ended with code ${code}`
}

function jsonObject(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as object
  } catch {
    return undefined
  }
}
