import { TreadleError } from '../core/errors.ts'
import { refuseUnknownOptions } from '../core/options.ts'
import type { HandlerFunction } from '../definition/handler.ts'
import { permanent } from './permanent.ts'

/** The part of `EventEmitter` that is used. */
export interface EventEmitterLike {
  emit(event: string, data: unknown): unknown
}

/** Options of `event`. */
export interface EventOptions {
  /** Exact names of the events that may be emitted. Default: none. */
  readonly allow?: readonly string[]
}

/** The payload of an `event` job: the name of the event and its data. */
export interface EventPayload {
  readonly event: string
  readonly data?: unknown
}

/** The result of an `event` job. */
export interface EventResult {
  /** False if there was no listener in the worker's process. */
  readonly heard: boolean
}

/**
 * Emits the event that the payload names, with its `data`, in the worker's process. If a listener throws, the attempt fails.
 * Promises returned by listeners are not awaited.
 */
export function event(emitter: EventEmitterLike, options: EventOptions = {}): HandlerFunction<EventPayload, EventResult> {
  const allowed = allowedEvents(emitter, options)
  return (payload) => {
    const name = eventName(payload)
    if (!allowed.has(name)) {
      throw permanent(
        new TreadleError('HANDLER_DENIED', `The event "${name}" is not allowed. Name it in the option "allow" of event().`),
      )
    }
    return { heard: Boolean(emitter.emit(name, payload.data)) }
  }
}

function allowedEvents(emitter: EventEmitterLike, options: EventOptions): ReadonlySet<string> {
  if (typeof emitter?.emit !== 'function') {
    throw new TreadleError('HANDLER_INVALID', 'event takes an emitter, which is an object with the method "emit"')
  }
  refuseUnknownOptions(options, ['allow'], 'event')
  const { allow = [] } = options
  if (!Array.isArray(allow) || allow.some((name) => typeof name !== 'string' || name === '')) {
    throw new TreadleError('CONFIG_INVALID', 'event: allow must be a list of event names')
  }
  return new Set(allow)
}

function eventName(payload: unknown): string {
  if (typeof payload === 'object' && payload !== null && 'event' in payload && typeof payload.event === 'string')
    return payload.event
  throw permanent(new TreadleError('PAYLOAD_INVALID', 'The payload of an event job must be { event: string, data?: … }'))
}
