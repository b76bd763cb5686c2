import { createHash } from 'node:crypto'

/** A short text that is another one for another text. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
