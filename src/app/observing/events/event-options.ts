import { TreadleError } from '../../../core/errors.ts'
import { refuseUnknownOptions } from '../../../core/options.ts'
import { shown } from '../../../core/text/shown.ts'
import type { EventDetail } from '../../../execution/event-details.ts'
import { detailNames, type EventFilter, type WantedEvents, wantedEvents } from './event-filter.ts'
import type { QueueEvent } from './queue-event.ts'

/** Options of `jobs.events`. */
export interface EventsOptions extends EventFilter {
  /** Additional details to include in the events. */
  readonly include?: readonly EventDetail[]
  /** Resumes after the event with this `position`, if the events that followed it are still stored. */
  readonly after?: string
  /** Maximum number of unread events. Beyond that, the oldest are dropped and counted. Default: 1,000. */
  readonly buffer?: number
  /** Whether to decrypt the payload, result and error of encrypted jobs if this process has the key. Default: true. */
  readonly decrypt?: boolean
  /** Ends the stream when it aborts. */
  readonly signal?: AbortSignal
}

/** Additional options for servers. */
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

const known = ['types', 'job', 'queue', 'tag', 'id', 'include', 'after', 'buffer', 'decrypt', 'signal']

export function checkedOptions(options: ServedEventsOptions): CheckedOptions {
  const { sees: _, lingerMs: __, ...asked } = Object(options) as ServedEventsOptions
  refuseUnknownOptions(asked, known, 'events')
  const { buffer = defaultBuffer, after = null } = options
  if (!Number.isSafeInteger(buffer) || buffer < 1 || buffer > mostBuffered) {
    const message = `events: buffer must be a whole number from 1 to ${mostBuffered.toLocaleString('en')}, got ${shown(buffer)}`
    throw new TreadleError('CONFIG_INVALID', message)
  }
  return { wanted: wantedEvents(options, detailNames(options.include, 'events')), buffer, after }
}
