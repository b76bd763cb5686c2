import { hash } from 'node:crypto'

/** A short string that differs for different texts. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22)
}
