import { TreadleError } from '../core/errors.ts'
import { parseInstant } from '../core/instant.ts'
import type { Json } from '../core/json.ts'
import { type Envelope, envelopeVersion, type Identity, parseIdentity, sealEnvelope } from './envelope.ts'

/** The envelope as one JSON object, the same on every broker that stores a job as one text. */
export interface WireEnvelope {
  readonly v: number
  readonly job: string
  readonly payload: Json
  readonly queue: string
  readonly priority: number
  readonly maxRetries: number
  /** Completed runs before the one to come. Not signed: it grows with every delivery. */
  readonly attempts: number
  readonly name: string
  readonly identifier: string
  readonly idempotencyKey: string | null
  /** The earliest run, ISO 8601 in UTC, or null for at once. Not signed. */
  readonly schedule: string | null
  readonly timeout: number | null
  readonly singleInstance: boolean
  readonly meta: Readonly<Record<string, Json>>
  /** The instant that a scheduled run stands for, ISO 8601 in UTC; absent where it was dispatched. */
  readonly occurrence?: string
  /** When it is to be done again, in the repeat language; absent where it is done once. */
  readonly repeat?: string
  /** The payload is encrypted; absent where it is not. */
  readonly encrypted?: true
  readonly _sig: string | null
}

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
    _sig: envelope.signature,
  }
  return JSON.stringify(wire)
}

export interface ReadWire {
  readonly envelope: Envelope
  readonly attempts: number
}

/** Reads what `toWire` wrote. Whether it may run is decided by `openEnvelope`, which checks the signature. */
export function fromWire(text: string, receivedAt: number): ReadWire {
  const wire = parseWire(text)
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
  }
  const runAt = wire.schedule === null ? receivedAt : (instantMs(wire.schedule) ?? receivedAt)
  const delivery = { createdAt: receivedAt, runAt, uniqueKey: null }
  const unsigned = sealEnvelope(identity, JSON.stringify(wire.payload), delivery, null, true)
  return { envelope: { ...unsigned, signature: wire._sig }, attempts: wire.attempts }
}

const wireShape: { readonly [Field in keyof WireEnvelope]-?: (value: unknown) => boolean } = {
  v: (value) => value === envelopeVersion,
  job: isText,
  payload: (value) => value !== undefined,
  queue: isText,
  priority: Number.isSafeInteger,
  maxRetries: isCount,
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
  _sig: (value) => value === null || isText(value),
}

function parseWire(text: string): WireEnvelope {
  let wire: Partial<WireEnvelope>
  try {
    wire = Object(JSON.parse(text)) as Partial<WireEnvelope>
  } catch (cause) {
    throw new TreadleError('ENVELOPE_MALFORMED', 'The message is not JSON', { cause })
  }
  const wrong = Object.entries(wireShape).filter(([field, sound]) => !sound(wire[field as keyof WireEnvelope]))
  if (wrong.length > 0) {
    const fields = wrong.map(([field]) => field).join(', ')
    throw new TreadleError('ENVELOPE_MALFORMED', `The message is not an envelope: missing or of the wrong type: ${fields}`)
  }
  return wire as WireEnvelope
}

/** ISO 8601 with its offset, or `2026-06-10 09:00:00`, which is meant in UTC. */
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
