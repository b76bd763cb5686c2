import { TreadleError } from '../core/errors.ts'
import type { Json } from '../core/text/json.ts'
import { parseInstant } from '../core/time/instant.ts'
import { type Envelope, envelopeVersion, type Identity, parseIdentity, sealEnvelope } from './envelope.ts'

/** The envelope as one JSON object, the same on every broker that stores a job as one text. */
export interface WireEnvelope {
  readonly v: number
  readonly job: string
  readonly payload: Json
  readonly queue: string
  readonly priority: number
  /** Null if not set: the worker decides. The same applies to `timeout`, where 0 means no limit. */
  readonly maxRetries: number | null
  /** Completed runs before the next one. Not signed: it grows with every delivery. */
  readonly attempts: number
  readonly name: string
  readonly identifier: string
  readonly idempotencyKey: string | null
  /** The earliest start, ISO 8601 in UTC; null for at once. Not signed. */
  readonly schedule: string | null
  readonly timeout: number | null
  readonly singleInstance: boolean
  readonly meta: Readonly<Record<string, Json>>
  /** The instant that a scheduled run stands for, ISO 8601 in UTC; absent if it was dispatched. */
  readonly occurrence?: string
  /** When to run it again, in the repeat language; absent if it runs once. */
  readonly repeat?: string
  /** Whether the payload is encrypted; absent if it is not. */
  readonly encrypted?: true
  /** Labels for finding the job; absent if it has none. */
  readonly tags?: readonly string[]
  /** The number by which clients of a job server know it; absent if it has none. */
  readonly number?: number
  readonly _sig: string | null
}

/** An envelope as one JSON text, for queues that store messages instead of rows. */
export function toWire(envelope: Envelope, attempts: number): string {
  const identity = parseIdentity(envelope.identity)
  if (identity === undefined) throw new TreadleError('ENVELOPE_MALFORMED', `The envelope of job ${envelope.id} has no identity`)
  const wire: WireEnvelope = {
    v: envelopeVersion,
    job: identity.job,
    payload: JSON.parse(envelope.payload),
    queue: identity.queue,
    priority: identity.priority,
    maxRetries: identity.maxRetries,
    attempts,
    name: identity.name,
    identifier: identity.id,
    idempotencyKey: identity.idempotencyKey,
    schedule: envelope.runAt > envelope.createdAt ? new Date(envelope.runAt).toISOString() : null,
    timeout: identity.timeoutMs,
    singleInstance: identity.singleInstance,
    meta: identity.meta,
    ...(identity.occurrence !== null && { occurrence: new Date(identity.occurrence).toISOString() }),
    ...(identity.repeat !== null && { repeat: identity.repeat }),
    ...(identity.encrypted && { encrypted: true }),
    ...(identity.tags && { tags: identity.tags }),
    ...(envelope.number !== null && { number: envelope.number }),
    _sig: envelope.signature,
  }
  return JSON.stringify(wire)
}

export interface ReadWire {
  readonly envelope: Envelope
  readonly attempts: number
}

/** Reads what `toWire` wrote. `openEnvelope` checks the signature and decides whether it may run. */
export function fromWire(text: string, receivedAt: number): ReadWire {
  return fromMembers(wireMembers(text), receivedAt)
}

/** All members of a message, including those that are not part of the envelope. */
export function wireMembers(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw new TreadleError('ENVELOPE_MALFORMED', 'The message is not JSON', { cause })
  }
}

export function fromMembers(members: Readonly<Record<string, unknown>>, receivedAt: number): ReadWire {
  const wire = checkedWire(members)
  const identity: Identity = {
    id: wire.identifier,
    job: wire.job,
    name: wire.name,
    queue: wire.queue,
    priority: wire.priority,
    maxRetries: wire.maxRetries,
    timeoutMs: wire.timeout,
    singleInstance: wire.singleInstance,
    idempotencyKey: wire.idempotencyKey,
    meta: wire.meta,
    occurrence: wire.occurrence === undefined ? null : (instantMs(wire.occurrence) ?? null),
    repeat: wire.repeat ?? null,
    ...(wire.encrypted && { encrypted: true }),
    ...(wire.tags && { tags: wire.tags }),
  }
  const runAt = wire.schedule === null ? receivedAt : (instantMs(wire.schedule) ?? receivedAt)
  const delivery = { createdAt: receivedAt, runAt, uniqueKey: null, number: wire.number ?? null }
  const unsigned = sealEnvelope(identity, JSON.stringify(wire.payload), delivery, null, true)
  return { envelope: { ...unsigned, signature: wire._sig }, attempts: wire.attempts }
}

const wireShape: { readonly [Field in keyof WireEnvelope]-?: (value: unknown) => boolean } = {
  v: (value) => value === envelopeVersion,
  job: isText,
  payload: (value) => value !== undefined,
  queue: isText,
  priority: Number.isSafeInteger,
  maxRetries: (value) => value === null || isCount(value),
  attempts: isCount,
  name: isText,
  identifier: isText,
  idempotencyKey: (value) => value === null || isText(value),
  schedule: (value) => value === null || (typeof value === 'string' && instantMs(value) !== undefined),
  timeout: (value) => value === null || isCount(value),
  singleInstance: (value) => typeof value === 'boolean',
  meta: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  occurrence: (value) => value === undefined || (typeof value === 'string' && instantMs(value) !== undefined),
  repeat: (value) => value === undefined || isText(value),
  encrypted: (value) => value === undefined || value === true,
  tags: (value) => value === undefined || (Array.isArray(value) && value.length > 0 && value.every(isText)),
  number: (value) => value === undefined || isCount(value),
  _sig: (value) => value === null || isText(value),
}

const wireChecks = Object.entries(wireShape)

function checkedWire(wire: Partial<WireEnvelope>): WireEnvelope {
  const wrong = wireChecks.filter(([field, sound]) => !sound(wire[field as keyof WireEnvelope]))
  if (wrong.length > 0) {
    const fields = wrong.map(([field]) => field).join(', ')
    throw new TreadleError('ENVELOPE_MALFORMED', `The message is not an envelope: missing or of the wrong type: ${fields}`)
  }
  return wire as WireEnvelope
}

/** ISO 8601 with an offset, or `2026-06-10 09:00:00`, which is taken as UTC. */
function instantMs(text: string): number | undefined {
  try {
    return parseInstant(text.replace(/^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/, '$1T$2Z'), 'instant')
  } catch {
    return undefined
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
