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

/** A job's body. Unreadable data never passes verification. */
export function bodyIn(text: string | null): readonly [identity: string, payload: string, signature: string | null] {
  const [identity, payload, signature] = partsIn(text)
  return [textIn(identity), textIn(payload), textOrNull(signature)]
}
