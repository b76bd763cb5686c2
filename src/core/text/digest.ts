import { hash } from 'node:crypto'

/** A short text that is another one for another text. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}
