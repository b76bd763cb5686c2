import rhea, { type Message } from 'rhea'
import type { StoredMessage } from './entity.ts'

/** Errors as Service Bus names them. */
export const conditions = {
  lockLost: 'com.microsoft:message-lock-lost',
  messageNotFound: 'com.microsoft:message-not-found',
  entityNotFound: 'amqp:not-found',
  unauthorized: 'amqp:unauthorized-access',
  tooLarge: 'amqp:link:message-size-exceeded',
  busy: 'com.microsoft:server-busy',
  disabled: 'com.microsoft:entity-disabled',
  full: 'amqp:resource-limit-exceeded',
} as const

/** A message as it is handed out, or shown to somebody who peeks. */
export function outgoing(stored: StoredMessage): Message {
  const { message, properties, sequence, enqueuedAt, deliveryCount, lock, state } = stored
  return {
    ...message,
    delivery_count: deliveryCount,
    application_properties: properties,
    message_annotations: {
      ...message.message_annotations,
      'x-opt-sequence-number': rhea.types.wrap_long(sequence),
      'x-opt-enqueued-time': rhea.types.wrap_timestamp(enqueuedAt),
      'x-opt-message-state': rhea.types.wrap_int(state === 'scheduled' ? 2 : 0),
      ...(lock !== null && { 'x-opt-locked-until': rhea.types.wrap_timestamp(lock.until) }),
    },
  }
}

/** The messages of one transfer: Service Bus clients send many as one message whose body is a list of encoded ones. */
export function incoming(message: Message | Buffer, format: number): readonly Message[] {
  if (!Buffer.isBuffer(message)) return [message]
  if (format !== batchFormat) return [decoded(message)]
  const { content } = decoded(message).body as { content: Buffer | readonly Buffer[] }
  return (Array.isArray(content) ? content : [content]).map(decoded)
}

export function decoded(encoded: Buffer): Message {
  const message: object = rhea.message.decode(encoded)
  return message as Message
}

const batchFormat = 0x80013700

export function scheduledTime({ message_annotations }: Message): number | null {
  const at: unknown = message_annotations?.['x-opt-scheduled-enqueue-time']
  return at === undefined || at === null ? null : Number(at)
}

/** The tag of a delivery is its lock token, with the byte order of a .NET GUID. */
export function tagOf(token: string): Buffer {
  return swapped(Buffer.from(token.replaceAll('-', ''), 'hex'))
}

export function tokenOfTag(tag: Buffer | string): string {
  return uuidText(swapped(Buffer.from(tag)))
}

export function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from([3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((index) => bytes[index] as number))
}
