import type { Meta } from '../definition/meta.ts'
import { type Envelope, identityOf, readPayload, tagsOf } from '../envelope/envelope.ts'
import type { KeyRing } from '../envelope/keys/key-ring.ts'

/** Details that an event contains only on request. */
export const eventDetailNames = ['payload', 'meta', 'tags', 'result', 'timings'] as const

/** A detail that an event contains only on request. */
export type EventDetail = (typeof eventDetailNames)[number]

/** The requested details, as far as they are known where the event happened. */
export interface EventDetails {
  readonly payload?: unknown
  readonly meta?: Meta
  readonly tags?: readonly string[]
  /** The result of a job that has succeeded; null if its handler returned nothing. */
  readonly result?: unknown
  readonly timings?: EventTimings
}

/** When a job was created, was due, started and ended, in UTC milliseconds. */
export interface EventTimings {
  readonly createdAt?: number
  readonly dueAt?: number
  readonly startedAt?: number
  readonly endedAt?: number
  /** From when it was due until this attempt started. */
  readonly waitMs?: number
  /** How long this attempt took. */
  readonly durationMs?: number
}

/** The job that an event is about, as available where the event happens. Details are made from it on request. */
export interface EventSubject {
  readonly envelope: Pick<Envelope, 'id' | 'identity'> & Partial<Pick<Envelope, 'payload' | 'createdAt' | 'runAt'>>
  readonly keys: KeyRing | null
  /** A JSON text; absent if it has not succeeded. */
  readonly result?: string | null
  readonly startedAt?: number
  readonly endedAt?: number
  readonly durationMs?: number
}

export function detailsOf(subject: EventSubject, wanted: ReadonlySet<EventDetail>): EventDetails {
  const { envelope, keys, result } = subject
  const { payload } = envelope
  return {
    ...(wanted.has('payload') && payload !== undefined && readablePayload({ ...envelope, payload }, keys)),
    ...(wanted.has('meta') && { meta: identityOf(envelope.id, envelope.identity)?.meta ?? {} }),
    ...(wanted.has('tags') && { tags: tagsOf(envelope.identity) }),
    ...(wanted.has('result') && result !== undefined && { result: result === null ? null : JSON.parse(result) }),
    ...(wanted.has('timings') && { timings: timingsOf(subject) }),
  }
}

/** Leaves out a payload that cannot be decrypted here. */
function readablePayload(
  envelope: Pick<Envelope, 'id' | 'identity' | 'payload'>,
  keys: KeyRing | null,
): Pick<EventDetails, 'payload'> {
  try {
    return { payload: JSON.parse(readPayload(envelope, keys)) }
  } catch {
    return {}
  }
}

function timingsOf({ envelope, startedAt, endedAt, durationMs }: EventSubject): EventTimings {
  const { createdAt, runAt } = envelope
  const dueAt = createdAt === undefined || runAt === undefined ? undefined : Math.max(createdAt, runAt)
  return {
    ...(createdAt !== undefined && { createdAt }),
    ...(dueAt !== undefined && { dueAt }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(dueAt !== undefined && startedAt !== undefined && { waitMs: Math.max(0, startedAt - dueAt) }),
    ...(durationMs !== undefined && { durationMs }),
  }
}
