// Not by its name: a Node that is too old has no such export, and would fail before anything can say that it is too old.
import crypto from 'node:crypto'

/** A short string that differs for different texts. */
export function digest(text: string): string {
  return crypto.hash('sha256', text, 'base64url').slice(0, 22)
}
