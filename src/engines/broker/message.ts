import { TreadleError } from '../../core/errors.ts'
import type { Envelope, UniqueUntil } from '../../envelope/envelope.ts'
import { fromMembers, toWire, wireMembers } from '../../envelope/wire.ts'
import { type AttemptError, type DeadReason, deadReasons } from '../../queue/contract/failure.ts'
import { withError } from '../../queue/rules/jobs/job.ts'

/** A job as a broker holds it: one text that also carries what a database would keep in columns beside the envelope. */
export interface BrokerMessage {
  readonly envelope: Envelope
  /** Number of attempts already used, not counting the next one. */
  readonly attempts: number
  /** How many of its owners had died when it was last written. */
  readonly rescues: number
  /** The errors of its most recent attempts. */
  readonly errors: readonly AttemptError[]
  /** The owner that began to run it, if it must never be run a second time. */
  readonly begunBy: string | null
  /** Its owner holds no other job, so the owner's death counts against this one. */
  readonly alone: boolean
  /** Why it died, if it is a dead letter. */
  readonly dead: DeadReason | null
}

export function newMessage(envelope: Envelope): BrokerMessage {
  return { envelope, attempts: 0, rescues: 0, errors: [], begunBy: null, alone: false, dead: null }
}

export function withAttemptError(message: BrokerMessage, error: AttemptError): BrokerMessage {
  return { ...message, errors: withError(message, error) }
}

/** What a message carries beside the members of the envelope. Absent members have their defaults. None of it is signed. */
interface DeliveryMembers {
  readonly createdAt?: number
  readonly runAt?: number
  readonly group?: string
  readonly uniqueKey?: string
  readonly uniqueUntil?: UniqueUntil
  /** The payload as it was signed, if that differs from JSON's default formatting. */
  readonly payload?: string
  readonly rescues?: number
  readonly errors?: readonly AttemptError[]
  readonly begunBy?: string
  readonly alone?: true
  readonly dead?: DeadReason
}

/** The wire form of the envelope with one more member, `delivery`. */
export function messageText(message: BrokerMessage): string {
  const { envelope, attempts } = message
  const wire = toWire(envelope, attempts)
  return `${wire.slice(0, -1)},"delivery":${JSON.stringify(deliveryOf(message))}}`
}

/** The same text in at most `maxBytes` bytes, for servers with a size limit: errors are shortened, then dropped, oldest first. */
export function fittingText(message: BrokerMessage, maxBytes: number): string {
  const whole = messageText(message)
  if (message.errors.length === 0 || Buffer.byteLength(whole) <= maxBytes) return whole
  const brief = message.errors.map(({ stack: _, ...error }) => ({ ...error, message: error.message.slice(0, mostOfError) }))
  for (let kept = brief.length; kept > 0; kept = Math.floor(kept / 2)) {
    const text = messageText({ ...message, errors: brief.slice(-kept) })
    if (Buffer.byteLength(text) <= maxBytes) return text
  }
  return messageText({ ...message, errors: [] })
}

const mostOfError = 500

/**
 * Throws `ENVELOPE_MALFORMED` if the text is not one of our messages. Does not verify the signature, which decides whether the
 * job may run.
 */
export function readMessage(text: string, receivedAt: number): BrokerMessage {
  const members = wireMembers(text)
  const { envelope, attempts } = fromMembers(members, receivedAt)
  const delivery = soundDelivery(members.delivery)
  const { createdAt = receivedAt, runAt = envelope.runAt, group = null, uniqueKey = null, uniqueUntil = 'ended' } = delivery
  const payload = delivery.payload ?? envelope.payload
  return {
    envelope: { ...envelope, payload, createdAt, runAt, group, uniqueKey, uniqueUntil },
    attempts,
    rescues: delivery.rescues ?? 0,
    errors: delivery.errors ?? [],
    begunBy: delivery.begunBy ?? null,
    alone: delivery.alone ?? false,
    dead: delivery.dead ?? null,
  }
}

function deliveryOf({ envelope, rescues, errors, begunBy, alone, dead }: BrokerMessage): DeliveryMembers {
  const { createdAt, runAt, group, uniqueKey, uniqueUntil, payload } = envelope
  return {
    createdAt,
    runAt,
    ...(group !== null && { group }),
    ...(uniqueKey !== null && { uniqueKey }),
    ...(uniqueUntil !== 'ended' && { uniqueUntil }),
    ...(JSON.stringify(JSON.parse(payload)) !== payload && { payload }),
    ...(rescues > 0 && { rescues }),
    ...(errors.length > 0 && { errors }),
    ...(begunBy !== null && { begunBy }),
    ...(alone && { alone }),
    ...(dead !== null && { dead }),
  }
}

const deliveryShape: { readonly [Member in keyof DeliveryMembers]-?: (value: unknown) => boolean } = {
  createdAt: Number.isSafeInteger,
  runAt: Number.isSafeInteger,
  group: isText,
  uniqueKey: isText,
  uniqueUntil: (value) => value === 'started' || value === 'ended' || value === 'ever' || Number.isSafeInteger(value),
  payload: isText,
  rescues: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  errors: (value) => Array.isArray(value) && value.every(isError),
  begunBy: isText,
  alone: (value) => value === true,
  dead: (value) => (deadReasons as readonly unknown[]).includes(value),
}

const deliveryChecks = Object.entries(deliveryShape)

function soundDelivery(value: unknown): DeliveryMembers {
  if (value === undefined) return {}
  const members = Object(value) as Readonly<Record<string, unknown>>
  const wrong = deliveryChecks
    .filter(([member, isSound]) => members[member] !== undefined && !isSound(members[member]))
    .map(([member]) => member)
  if (wrong.length > 0) {
    throw new TreadleError(
      'ENVELOPE_MALFORMED',
      `The message is not an envelope: of the wrong type: delivery.${wrong.join(', ')}`,
    )
  }
  return members
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isError(value: unknown): boolean {
  const { attempt, at, message } = Object(value) as Partial<Record<keyof AttemptError, unknown>>
  return typeof attempt === 'number' && typeof at === 'number' && typeof message === 'string'
}
