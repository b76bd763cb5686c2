import type { FromIsolate, ToIsolate } from './wire/messages.ts'
import { parseFromIsolate, parseToIsolate } from './wire/parsing.ts'

/**
 * A message between worker and isolate, marked as Treadle's own. A handler may send messages through the same thread or process,
 * but it does not know the token, so they are not mistaken for a response.
 */
export interface Sealed<Message> {
  readonly token: string
  readonly message: Message
}

export function openFromIsolate(value: unknown, token: string): FromIsolate | undefined {
  const sealed = sealedOf(value)
  return sealed?.token === token ? parseFromIsolate(sealed.message) : undefined
}

/** The first message determines the token; null until then. */
export function openToIsolate(value: unknown, token: string | null): Sealed<ToIsolate> | undefined {
  const sealed = sealedOf(value)
  const message = sealed === undefined || sealed.token !== (token ?? sealed.token) ? undefined : parseToIsolate(sealed.message)
  return sealed === undefined || message === undefined ? undefined : { token: sealed.token, message }
}

function sealedOf(value: unknown): Sealed<unknown> | undefined {
  try {
    if (typeof value !== 'object' || value === null) return undefined
    const { token, message } = value as Record<string, unknown>
    return typeof token === 'string' ? { token, message } : undefined
  } catch {
    return undefined
  }
}
