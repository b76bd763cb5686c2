import { parsed } from '../../../queue/model/parsed-json.ts'

/** Readers of what is stored as JSON. Anyone who can write to the server may have spoilt it: what cannot be read is as if it were not there. */

/** The members of a list; none where it is no list. */
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

/** What a job carries. What cannot be read verifies as nothing that was ever signed. */
export function bodyIn(text: string | null): readonly [identity: string, payload: string, signature: string | null] {
  const [identity, payload, signature] = partsIn(text)
  return [textIn(identity), textIn(payload), textOrNull(signature)]
}
