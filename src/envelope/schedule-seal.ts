import { messageOf, TreadleError } from '../core/errors.ts'
import { type Recurrence, recurrenceFields, recurrenceOf } from '../definition/recurrence.ts'
import { parseEncrypted } from './encryption.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { ScopedJob } from './keys/key-scope.ts'

/** A schedule created at run time: which job, when, and with what payload. */
export interface SealableSchedule {
  readonly job: string
  readonly recurrence: Recurrence
  /** An unencrypted JSON text. */
  readonly payload: string
}

/** As it is stored. */
export interface SealedSchedule {
  readonly text: string
  readonly signature: string | null
}

/**
 * Writes a schedule as a text of two lines, the job and timing, then the payload, and signs it. `queue` is where its jobs are
 * sent: a key limited to other queues or jobs cannot sign it.
 */
export function sealSchedule(
  { job, recurrence, payload }: SealableSchedule,
  queue: string,
  keys: KeyRing | null,
  isEncrypted: boolean,
): SealedSchedule {
  const scope = { job, queue }
  const first = JSON.stringify(['schedule', version, job, isEncrypted, ...recurrenceFields(recurrence)])
  const text = `${first}\n${isEncrypted ? encrypted(payload, recurrence.key, scope, keys) : payload}`
  if (keys === null) return { text, signature: null }
  const signature = keys.signText(text, scope)
  if (signature !== null) return { text, signature }
  throw new TreadleError('KEY_INVALID', `No signing key may sign a schedule of "${job}" on queue "${queue}"`)
}

const version = 1

function encrypted(payload: string, key: string, scope: ScopedJob, keys: KeyRing | null): string {
  if (keys !== null) return keys.encrypt(payload, contextOf(key), scope)
  throw new TreadleError(
    'KEY_INVALID',
    'A schedule is encrypted with the signing key: give a signingKey, or do not ask for encrypt',
  )
}

/** Parses a schedule without verifying it; undefined if it is not one. For display only, not for running it. */
export function readSchedule(text: string): WrittenSchedule | undefined {
  const end = text.indexOf('\n')
  const [what, form, job, isEncrypted, ...fields] = arrayOf(text.slice(0, Math.max(end, 0)))
  const recurrence = recurrenceOf(fields)
  if (what !== 'schedule' || form !== version || typeof job !== 'string' || recurrence === undefined) return undefined
  return { job, recurrence, payload: text.slice(end + 1), isEncrypted: isEncrypted === true }
}

export interface WrittenSchedule extends SealableSchedule {
  /** Whether the payload is encrypted. */
  readonly isEncrypted: boolean
}

/** A verified schedule. */
export interface OpenedSchedule extends SealableSchedule {
  /** False if it was accepted without a signature. Then its runs get none either: writing to the database gets nothing signed. */
  readonly isSigned: boolean
}

/** Verifies and decrypts the schedule with this key. Throws unless it was signed for this key and this job. */
export function openSchedule(
  key: string,
  { text, signature }: SealedSchedule,
  queueOf: (job: string) => string,
  keys: KeyRing | null,
): OpenedSchedule {
  const written = readSchedule(text)
  if (written === undefined || written.recurrence.key !== key)
    throw new TreadleError('ENVELOPE_MALFORMED', 'its stored form is not a schedule with this key')
  const { job, recurrence, payload, isEncrypted } = written
  if (keys !== null) refuseForged(text, signature, { job, queue: queueOf(job) }, keys)
  if (isEncrypted && signature === null) throw new TreadleError('SIGNATURE_MISSING', 'it is encrypted, but not signed')
  const isSigned = keys !== null && signature !== null
  return { job, recurrence, payload: isEncrypted ? decrypted(payload, key, keys) : payload, isSigned }
}

function refuseForged(text: string, signature: string | null, scope: ScopedJob, keys: KeyRing): void {
  if (signature === null) {
    if (keys.acceptsUnsigned) return
    throw new TreadleError('SIGNATURE_MISSING', 'it is not signed')
  }
  if (keys.verifyText(text, signature, scope)) return
  throw new TreadleError(
    'SIGNATURE_INVALID',
    'it was changed after it was signed, or is signed with a key that is not in the key ring or may not sign for its job',
  )
}

function decrypted(payload: string, key: string, keys: KeyRing | null): string {
  const found = parseEncrypted(payload)
  if (found === undefined || keys === null) throw new TreadleError('KEY_INVALID', 'its payload is encrypted, and there is no key')
  try {
    return keys.decrypt(found, contextOf(key))
  } catch (cause) {
    throw new TreadleError('KEY_INVALID', `its payload cannot be decrypted: ${messageOf(cause)}`, { cause })
  }
}

/** Binds an encrypted payload to its schedule. */
function contextOf(key: string): string {
  return `schedule\n${key}`
}

function arrayOf(line: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(line)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
