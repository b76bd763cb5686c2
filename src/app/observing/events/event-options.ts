import { TreadleError } from '../../../core/errors.ts'
import { refuseUnknownOptions } from '../../../core/options.ts'
import { shown } from '../../../core/text/shown.ts'
import type { EventDetail } from '../../../execution/event-details.ts'
import { detailNames, type EventFilter, type WantedEvents, wantedEvents } from './event-filter.ts'
import type { QueueEvent } from './queue-event.ts'

/** Options of `jobs.events`. */
export interface EventsOptions extends EventFilter {
  /** What the events are to say beside what they always say. */
  readonly include?: readonly EventDetail[]
  /** Goes on behind this event, by its `position`, where its events are still kept. */
  readonly after?: string
  /** How many events wait for the reader, before the oldest are dropped and counted; 1,000 by default. */
  readonly buffer?: number
  /** Whether the payload, the result and the error of an encrypted job are told where its key is here; true by default. */
  readonly decrypt?: boolean
  readonly signal?: AbortSignal
}

/** What a server adds. */
export interface ServedEventsOptions extends EventsOptions {
  readonly sees?: (event: QueueEvent) => boolean
  /** A reader that comes back within this time has missed nothing. */
  readonly lingerMs?: number
}

const defaultBuffer = 1_000
const mostBuffered = 100_000

export interface CheckedOptions {
  readonly wanted: WantedEvents
  readonly buffer: number
  readonly after: string | null
}

const known = ['types', 'job', 'queue', 'tag', 'id', 'include', 'after', 'buffer', 'decrypt', 'signal', 'sees', 'lingerMs']

export function checkedOptions(options: ServedEventsOptions): CheckedOptions {
  refuseUnknownOptions(options, known, 'events')
  const { buffer = defaultBuffer, after = null } = options
  if (!Number.isSafeInteger(buffer) || buffer < 1 || buffer > mostBuffered) {
    const message = `events: buffer must be a whole number from 1 to ${mostBuffered.toLocaleString('en')}, got ${shown(buffer)}`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  return { wanted: wantedEvents(options, detailNames(options.include, 'events')), buffer, after }
}
