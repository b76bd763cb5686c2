import type { Envelope, UniqueUntil } from '../../../envelope/envelope.ts'
import { fromWire, toWire } from '../../../envelope/wire.ts'
import type { AttemptError, DeadReason } from '../../../queue/contract/failure.ts'
import { readErrors, readTime } from '../../../queue/model/spoilt.ts'
import type { OutgoingMessage, Property, ReceivedMessage } from '../connections/client.ts'

/** A job's state besides its envelope, stored in application properties, which a settlement can change. */
export interface JobState {
  /** Number of failed attempts. */
  readonly attempts: number
  /** How many owners of the job have died, as far as recorded. */
  readonly rescues: number
  /** How many deliveries of this message the other counters already include. */
  readonly deliveries: number
  /** How often the job was sent again, each time as a new message. */
  readonly copy: number
  /** How often it was returned by programs that do not handle it. */
  readonly unknown: number
  readonly errors: readonly AttemptError[]
  /** The owner that has begun it, after which it must not run again; null if none has. */
  readonly begun: string | null
  /** Why it is dead, while it waits to be moved to the dead-letter queue; null if it is not dead. */
  readonly dead: DeadReason | null
}

export const freshState: JobState = {
  attempts: 0,
  rescues: 0,
  deliveries: 0,
  copy: 0,
  unknown: 0,
  errors: [],
  begun: null,
  dead: null,
}

export interface ReadMessage {
  readonly envelope: Envelope
  readonly state: JobState
}

/** A new message for the job. Each copy has its own id, so that duplicate detection drops only repeated sends. */
export function toMessage(envelope: Envelope, state: JobState): OutgoingMessage {
  return {
    body: Buffer.from(bodyOf(envelope, state.attempts)),
    contentType: 'application/json',
    messageId: state.copy === 0 ? envelope.id : `${envelope.id}.${state.copy}`,
    subject: envelope.job.slice(0, 128),
    correlationId: envelope.id,
    applicationProperties: { ...deliveryProperties(envelope), ...stateProperties(state) },
  }
}

/** Throws `ENVELOPE_MALFORMED` if it is not a job. */
export function readMessage(message: ReceivedMessage, now: number): ReadMessage {
  const properties = message.applicationProperties ?? {}
  const receivedAt = message.enqueuedTimeUtc?.getTime() ?? now
  const text = textOf(message.body)
  const { envelope, attempts } = fromWire(text, receivedAt)
  return {
    envelope: { ...envelope, ...verbatimOf(text), ...deliveryOf(properties, envelope) },
    state: stateOf(properties, attempts),
  }
}

/** How many owners have died: the broker counts deliveries that ended without a settlement. */
export function rescuesOf({ deliveryCount = 0 }: ReceivedMessage, { rescues, deliveries }: JobState): number {
  return rescues + Math.max(deliveryCount - deliveries, 0)
}

/** Uses the format common to all brokers. If that would not reproduce the signed texts, they are added verbatim. */
function bodyOf(envelope: Envelope, attempts: number): string {
  const body = toWire(envelope, attempts)
  const read = fromWire(body, envelope.createdAt).envelope
  if (read.identity === envelope.identity && read.payload === envelope.payload) return body
  return JSON.stringify({ ...JSON.parse(body), _identity: envelope.identity, _payload: envelope.payload })
}

function verbatimOf(text: string): Partial<Pick<Envelope, 'identity' | 'payload'>> {
  const { _identity: identity, _payload: payload } = JSON.parse(text) as Readonly<Record<string, unknown>>
  return typeof identity === 'string' && typeof payload === 'string' ? { identity, payload } : {}
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  return Buffer.isBuffer(body) || body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body ?? null)
}

const created = 'treadle-created'
const runAt = 'treadle-run-at'
const uniqueKey = 'treadle-unique-key'
const uniqueUntil = 'treadle-unique-until'
const group = 'treadle-group'

function deliveryProperties(envelope: Envelope): Record<string, Property> {
  return {
    [created]: envelope.createdAt,
    [runAt]: envelope.runAt,
    ...(envelope.uniqueKey !== null && { [uniqueKey]: envelope.uniqueKey, [uniqueUntil]: envelope.uniqueUntil }),
    ...(envelope.group !== null && { [group]: envelope.group }),
  }
}

function deliveryOf(properties: Readonly<Record<string, unknown>>, envelope: Envelope): Partial<Envelope> {
  return {
    createdAt: readTime(properties[created]) ?? envelope.createdAt,
    runAt: readTime(properties[runAt]) ?? envelope.runAt,
    uniqueKey: textIn(properties[uniqueKey]),
    uniqueUntil: readUniqueUntil(properties[uniqueUntil]),
    group: textIn(properties[group]),
  }
}

function readUniqueUntil(value: unknown): UniqueUntil {
  return value === 'started' || value === 'ever' || typeof value === 'number' ? value : 'ended'
}

const attemptsName = 'treadle-attempts'
const rescuesName = 'treadle-rescues'
const deliveriesName = 'treadle-deliveries'
const copyName = 'treadle-copy'
const unknownName = 'treadle-unknown'
const errorsName = 'treadle-errors'
const begunName = 'treadle-begun'
const deadName = 'treadle-dead'

export function stateProperties(state: JobState): Record<string, Property> {
  return {
    [attemptsName]: state.attempts,
    [rescuesName]: state.rescues,
    [deliveriesName]: state.deliveries,
    [copyName]: state.copy,
    [unknownName]: state.unknown,
    ...(state.errors.length > 0 && { [errorsName]: errorsText(state.errors) }),
    ...(state.begun !== null && { [begunName]: state.begun }),
    ...(state.dead !== null && { [deadName]: state.dead }),
  }
}

function stateOf(properties: Readonly<Record<string, unknown>>, attempts: number): JobState {
  return {
    attempts: countIn(properties[attemptsName], attempts),
    rescues: countIn(properties[rescuesName]),
    deliveries: countIn(properties[deliveriesName]),
    copy: countIn(properties[copyName]),
    unknown: countIn(properties[unknownName]),
    errors: readErrors(properties[errorsName]),
    begun: textIn(properties[begunName]),
    dead: (textIn(properties[deadName]) as DeadReason | null) ?? null,
  }
}

export function runAtProperty(at: number): Record<string, Property> {
  return { [runAt]: at }
}

/** A property holds at most 32 KB. Keeps the latest errors, and drops stacks before it drops errors. */
function errorsText(errors: readonly AttemptError[]): string {
  const short = errors.map((error) => ({ ...error, message: error.message.slice(0, longestMessage) }))
  for (let from = 0; from < short.length; from++) {
    for (const keepsStacks of [true, false]) {
      const text = JSON.stringify(
        short.slice(from).map(({ stack, ...rest }) => (keepsStacks && stack ? { ...rest, stack } : rest)),
      )
      if (Buffer.byteLength(text) <= longestErrors) return text
    }
  }
  return '[]'
}

const longestErrors = 16_384
const longestMessage = 2_000

function countIn(value: unknown, fallback = 0): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : fallback
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
