import { errorCodes } from '../core/errors.ts'
import { parseEncrypted } from './encryption.ts'
import { identityOf } from './identity.ts'
import type { KeyRing } from './keys/key-ring.ts'

/** What is recorded about a failed attempt. */
export interface ErrorText {
  readonly message: string
  readonly code?: string
  readonly stack?: string
}

interface FailedJob {
  readonly id: string
  /** The text that was signed. */
  readonly identity: string
}

/**
 * An error as it is stored. For an encrypted job the message, stack and code are encrypted, because they may quote the payload.
 * Treadle's own error codes reveal nothing and stay readable.
 */
export function storedError<Failure extends ErrorText>(
  failure: Failure,
  { id, identity }: FailedJob,
  keys: KeyRing | null,
): Failure {
  const job = keys === null ? undefined : identityOf(id, identity)
  if (keys === null || job?.encrypted !== true) return failure
  const { message, code, stack, ...rest } = failure
  const isOurs = code !== undefined && (errorCodes as readonly string[]).includes(code)
  const text = JSON.stringify({ message, code, stack })
  return { ...rest, message: encryptedText(text, id, job, keys), ...(isOurs && { code }) } as Failure
}

/** A job that no key may sign for must still be able to end. */
function encryptedText(text: string, id: string, job: { readonly job: string; readonly queue: string }, keys: KeyRing): string {
  try {
    return keys.encrypt(text, contextOf(id), job)
  } catch {
    return 'The error is not shown: the job is encrypted, and no key of this program may encrypt for it'
  }
}

/** The message of a stored error if the key is available; otherwise a note that it is encrypted. */
export function readMessage(message: string, id: string, keys: KeyRing | null): string {
  const encrypted = parseEncrypted(message)
  if (encrypted === undefined) return message
  try {
    const read = JSON.parse(keys?.decrypt(encrypted, contextOf(id)) ?? '{}') as Partial<ErrorText>
    if (typeof read.message === 'string') return read.message
  } catch {
    // It was changed, or its key is not available.
  }
  return shownMessage(message)
}

/** The message of a stored error in a form that anyone may see. */
export function shownMessage(message: string): string {
  const encrypted = parseEncrypted(message)
  return encrypted === undefined ? message : `encrypted (${encrypted.kid})`
}

function contextOf(id: string): string {
  return `error\n${id}`
}
