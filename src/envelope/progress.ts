import { TreadleError } from '../core/errors.ts'
import { parseEncrypted } from './encryption.ts'
import { identityOf } from './identity.ts'
import type { KeyRing } from './keys/key-ring.ts'

interface ProgressingJob {
  readonly id: string
  /** The text that was signed. */
  readonly identity: string
}

/** A job's progress as it is stored: encrypted if its payload is. */
export function storedProgress(text: string, { id, identity }: ProgressingJob, keys: KeyRing | null): string {
  const job = keys === null ? undefined : identityOf(id, identity)
  return keys !== null && job?.encrypted ? keys.encrypt(text, contextOf(id), job) : text
}

/** Reads what `storedProgress` wrote. Progress is not signed: unless encrypted, it is only as trustworthy as the database. */
export function readProgress(text: string, { id, identity }: ProgressingJob, keys: KeyRing | null): string {
  const encrypted = identityOf(id, identity)?.encrypted ? parseEncrypted(text) : undefined
  if (encrypted === undefined || keys === null) return text
  try {
    return keys.decrypt(encrypted, contextOf(id))
  } catch (cause) {
    throw new TreadleError('RESULT_FORGED', `The progress of job ${id} cannot be decrypted`, { cause })
  }
}

function contextOf(id: string): string {
  return `progress\n${id}`
}
