import type { Envelope } from '../../../envelope/envelope.ts'
import { parsed } from '../../../queue/model/parsed-json.ts'

/** Readers for stored JSON. Anyone who can write to the server may have corrupted it: unreadable data is treated as missing. */

/** The members of a list; empty if it is not a list. */
export function partsIn(text: string | null): readonly unknown[] {
  const parts = parsed(text)
  return Array.isArray(parts) ? parts : []
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

export function finiteOr<Otherwise>(value: unknown, otherwise: Otherwise): number | Otherwise {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
}

type Body = Pick<Envelope, 'identity' | 'payload' | 'signature'>

/** The texts of a job, one per line. JSON has no line breaks of its own: texts that have some are stored as a list. */
export function bodyText({ identity, payload, signature }: Body): string {
  const lines = `${identity}\n${payload}\n${signature ?? ''}`
  const first = lines.indexOf('\n')
  const isPlain = first === identity.length && lines.indexOf('\n', first + 1) === first + payload.length + 1
  return isPlain && signature !== '' ? lines : JSON.stringify([identity, payload, signature])
}

/** A job's body. Unreadable data never passes verification. */
export function bodyIn(text: string | null): readonly [identity: string, payload: string, signature: string | null] {
  const first = text?.indexOf('\n') ?? -1
  if (text !== null && first >= 0) {
    const second = text.indexOf('\n', first + 1)
    if (second < 0) return ['', '', null]
    return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1) || null]
  }
  const [identity, payload, signature] = partsIn(text)
  return [textIn(identity), textIn(payload), textOrNull(signature)]
}
