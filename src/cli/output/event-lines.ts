import type { QueueEvent } from '../../app/observing/events/queue-event.ts'
import { formatDuration } from '../../core/time/duration.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { eventDetailNames } from '../../execution/event-details.ts'
import type { Colours } from './output.ts'
import { plural, visible, visibleLine } from './text.ts'
import { type LoggedEvent, loggedEvents, eventLine as workLine } from './workers/work-log.ts'

/** One line for people: when, what happened, and in which process. */
export function queueEventLine(event: QueueEvent, colours: Colours): string {
  const time = new Date(event.at).toISOString().slice(11, 23)
  if (event.type === 'dropped') return colours.yellow(`${time} … ${droppedText(event.count)}`)
  return `${colours.dim(time)} ${textOf(event, colours)} ${colours.dim(visibleLine(event.process))}${detailsText(event, colours)}`
}

/** The same for programs: one JSON object, with ISO 8601 instants. */
export function queueEventJson(event: QueueEvent): string {
  return JSON.stringify({ ...event, at: formatInstant(event.at) })
}

type Happened = Exclude<QueueEvent, { readonly type: 'dropped' }>

function textOf(event: Happened, colours: Colours): string {
  if (isLogged(event)) return loggedText(event, colours)
  switch (event.type) {
    case 'job:dispatched':
      return `${colours.dim('+')} ${visibleLine(event.name)} ${event.id} dispatched`
    case 'job:started':
      return `${colours.dim('>')} ${visibleLine(event.name)} ${event.id} started, attempt ${event.attempt}`
    case 'job:unsigned':
      return `${colours.yellow('!')} ${visibleLine(event.name)} ${event.id} was accepted without a signature`
    case 'worker:started':
      return `${colours.dim('-')} a worker has started`
    case 'worker:error':
      return `${colours.red('!')} a worker failed: ${visibleLine(event.error.message)}`
    case 'worker:stalled':
      return `${colours.yellow('!')} the event loop of a worker was blocked for ${formatDuration(Math.round(event.stalledMs))}`
    case 'worker:breaker':
      return `${colours.yellow('!')} the circuit breaker of a worker is ${event.state}`
    case 'schedule:enqueued':
      return `${colours.dim('+')} ${visibleLine(event.schedule)} was stored by its schedule`
    case 'schedule:tick':
      return `${colours.dim('-')} a scheduler checked its schedules`
  }
}

type Logged = Extract<Happened, { readonly type: LoggedEvent }>

function isLogged(event: Happened): event is Logged {
  return loggedEvents.some((name) => name === event.type)
}

function loggedText(event: Logged, colours: Colours): string {
  // The same text that a worker prints for its own events.
  return workLine<LoggedEvent>(event.type, event, colours)
}

/** The requested details, as JSON. */
function detailsText(event: Happened, colours: Colours): string {
  const said = Object.entries(event).filter(([name]) => eventDetailNames.some((detail) => detail === name))
  return said.length === 0 ? '' : `\n    ${colours.dim(visible(JSON.stringify(Object.fromEntries(said))))}`
}

function droppedText(count: number | null): string {
  return count === null ? 'events were missed; their number is not known' : `${plural(count, 'event')} dropped`
}
