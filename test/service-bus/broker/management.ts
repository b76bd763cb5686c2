import rhea, { type Message } from 'rhea'
import type { Entity } from './entity.ts'
import { conditions, decoded, outgoing, scheduledTime, uuidText } from './wire.ts'

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly condition?: string
}

const lockLost: Reply = { status: 410, condition: conditions.lockLost }
const notFound: Reply = { status: 404, condition: conditions.messageNotFound }

/** Answers a request to `<entity>/$management`. */
export function manage(entity: Entity, request: Message): Reply {
  const operation = String(request.application_properties?.operation).replace('com.microsoft:', '')
  const body = (request.body ?? {}) as Readonly<Record<string, unknown>>
  switch (operation) {
    case 'renew-lock':
      return renew(entity, tokensIn(body))
    case 'schedule-message':
      return schedule(entity, body.messages as readonly { message: Buffer }[])
    case 'cancel-scheduled-message':
      return cancel(entity, body['sequence-numbers'] as readonly unknown[])
    case 'peek-message':
      return peek(entity, numberOf(body['from-sequence-number']), Number(body['message-count']))
    case 'update-disposition':
      return updateDisposition(entity, tokensIn(body), body)
    default:
      return { status: 501, condition: 'amqp:not-implemented' }
  }
}

function renew(entity: Entity, tokens: readonly string[]): Reply {
  const ends = tokens.map((token) => entity.renew(token))
  if (ends.includes(undefined)) return lockLost
  return { status: 200, body: { expirations: rhea.types.wrap_array(ends, 0x83, undefined) } }
}

function schedule(entity: Entity, entries: readonly { message: Buffer }[]): Reply {
  const sequences = entries.map(({ message: encoded }) => {
    const message = decoded(encoded)
    return entity.add(message, scheduledTime(message))?.sequence ?? 0
  })
  return { status: 200, body: { 'sequence-numbers': rhea.types.wrap_array(sequences, 0x81, undefined) } }
}

function cancel(entity: Entity, sequences: readonly unknown[]): Reply {
  const cancelled = sequences.map((sequence) => entity.cancelScheduled(numberOf(sequence)))
  return cancelled.includes(false) ? notFound : { status: 200 }
}

function peek(entity: Entity, from: number, count: number): Reply {
  const found = entity.peek(from, count)
  if (found.length === 0) return { status: 204 }
  return { status: 200, body: { messages: found.map((stored) => ({ message: rhea.message.encode(outgoing(stored)) })) } }
}

/** How a message is settled whose link is gone. */
function updateDisposition(entity: Entity, tokens: readonly string[], body: Readonly<Record<string, unknown>>): Reply {
  const modified = (body['properties-to-modify'] ?? {}) as Readonly<Record<string, unknown>>
  const dead = {
    ...modified,
    DeadLetterReason: body['deadletter-reason'],
    DeadLetterErrorDescription: body['deadletter-description'],
  }
  const applied = tokens.map((token) => {
    switch (body['disposition-status']) {
      case 'completed':
        return entity.complete(token)
      case 'abandoned':
        return entity.abandon(token, modified)
      case 'suspended':
        return entity.deadLetter(token, dead)
      default:
        return false
    }
  })
  return applied.includes(false) ? lockLost : { status: 200 }
}

function tokensIn(body: Readonly<Record<string, unknown>>): readonly string[] {
  return (body['lock-tokens'] as readonly Buffer[]).map((token) => uuidText(Buffer.from(token)))
}

/** A long comes as a number, or as its bytes. */
function numberOf(value: unknown): number {
  return Buffer.isBuffer(value) ? Number(value.readBigInt64BE()) : Number(value)
}
