import { TreadleError } from '../../core/errors.ts'
import { decryptText, type Encrypted, encryptText } from '../encryption.ts'
import { parseIdentity } from '../identity.ts'
import { covers, isLimited, type ScopedJob, scopeText } from './key-scope.ts'
import { keyProblem, RingKey, type SigningKey } from './ring-key.ts'

export type { SigningKey } from './ring-key.ts'

export interface KeyRingOptions {
  /** Accepts jobs without a signature, while signing is being introduced. A wrong signature is still refused. */
  readonly acceptsUnsigned?: boolean
  /** Also signs a success without a result that no other job waits for, and requires that signature when verifying. */
  readonly signsEveryEnd?: boolean
}

/**
 * Signs with the first key that may sign the job, and accepts signatures by any of them. To rotate, put a new key first, and
 * remove the old one when the jobs it signed are gone.
 */
export class KeyRing {
  readonly acceptsUnsigned: boolean
  readonly signsEveryEnd: boolean
  readonly #load: () => readonly SigningKey[]
  #loaded: ReadonlyMap<string, RingKey> | undefined
  #first: RingKey | undefined
  #onUnsigned: (identity: string) => void = () => {}

  /** Keys passed as a function are loaded when something is first signed or verified: read-only programs need none. */
  constructor(keys: readonly SigningKey[] | (() => readonly SigningKey[]), options: KeyRingOptions = {}) {
    this.acceptsUnsigned = options.acceptsUnsigned ?? false
    this.signsEveryEnd = options.signsEveryEnd ?? false
    this.#load = typeof keys === 'function' ? keys : () => keys
    if (typeof keys !== 'function') this.ready()
  }

  /** Throws if the keys are missing or wrong, before anything is done that would need them. */
  ready(): void {
    this.#keys()
  }

  /** Called for each job that is accepted without a signature. */
  set onUnsigned(tell: (identity: string) => void) {
    this.#onUnsigned = tell
  }

  /** `kid.signature`, over the identity and the payload as they travel, and over the job's small number if it has one. */
  sign(identity: string, payload: string, number: number | null = null): string {
    this.#keys()
    // Most rings have one key, for all jobs.
    const isForAll = this.#first !== undefined && !isLimited(this.#first.scope)
    const key = isForAll ? (this.#first as RingKey) : this.#signerOf(parseIdentity(identity))
    return `${key.id}.${key.digest(signedText(identity, payload, number))}`
  }

  /**
   * Throws if the signature is missing or wrong. A job that was signed before it had a number, or by a version that did not sign
   * numbers, is accepted with any number. Returns whether the signature covers the number.
   */
  verify(identity: string, payload: string, signature: string | null, number: number | null = null): boolean {
    if (signature === null) {
      if (!this.acceptsUnsigned) throw new TreadleError('SIGNATURE_MISSING', 'The envelope is not signed')
      this.#onUnsigned(identity)
      return false
    }
    const dot = signature.indexOf('.')
    const key = this.#keyOf(signature)
    if (key === undefined) {
      throw new TreadleError('SIGNATURE_INVALID', 'The envelope is signed with a key that is not in the key ring')
    }
    const matches = (signed: number | null) => key.matches(signedText(identity, payload, signed), signature.slice(dot + 1))
    const isNumberSigned = matches(number)
    if (!isNumberSigned && (number === null || !matches(null))) {
      throw new TreadleError('SIGNATURE_INVALID', 'The envelope was changed after it was signed')
    }
    if (isLimited(key.scope)) refuseUncovered(key, parseIdentity(identity))
    return isNumberSigned
  }

  /** Encrypts with the key that signs this job; see `decrypt`. */
  encrypt(text: string, context: string, job: ScopedJob): string {
    const { id, encryptionKey } = this.#signerOf(job)
    return encryptText(text, context, id, encryptionKey)
  }

  /** Works only in the context that the text was encrypted for. Old keys decrypt as well. */
  decrypt(encrypted: Encrypted, context: string): string {
    const key = this.#keys().get(encrypted.kid)
    if (key === undefined) throw new TreadleError('KEY_INVALID', `the key "${encrypted.kid}" is not in the key ring`)
    return decryptText(encrypted, context, key.encryptionKey)
  }

  /**
   * `kid.signature` over a text that is not an envelope; its first line must say what it is. Null if no key may sign for the job
   * it belongs to.
   */
  signText(text: string, job: ScopedJob): string | null {
    const key = this.#coveringKey(job)
    return key === undefined ? null : `${key.id}.${key.digest(text)}`
  }

  /** Whether a key that may sign for this job has signed the text. */
  verifyText(text: string, signature: string, job: ScopedJob): boolean {
    const dot = signature.indexOf('.')
    const key = this.#keyOf(signature)
    return key !== undefined && covers(key.scope, job) && key.matches(text, signature.slice(dot + 1))
  }

  /** Whether the signature was made with a key that may sign for all jobs. */
  isUnlimited(signature: string): boolean {
    const key = this.#keyOf(signature)
    return key !== undefined && !isLimited(key.scope)
  }

  #keyOf(signature: string): RingKey | undefined {
    const dot = signature.indexOf('.')
    return dot < 1 ? undefined : this.#keys().get(signature.slice(0, dot))
  }

  #signerOf(job: ScopedJob | undefined): RingKey {
    const key = job && this.#coveringKey(job)
    if (key !== undefined) return key
    const what = job === undefined ? 'this job' : `"${job.job}" on queue "${job.queue}"`
    throw new TreadleError('KEY_INVALID', `No signing key may sign ${what}: all of them are limited to other queues or jobs`)
  }

  #coveringKey(job: ScopedJob): RingKey | undefined {
    for (const key of this.#keys().values()) if (covers(key.scope, job)) return key
    return undefined
  }

  #keys(): ReadonlyMap<string, RingKey> {
    if (this.#loaded !== undefined) return this.#loaded
    this.#loaded = byId(this.#load())
    ;[this.#first] = this.#loaded.values()
    return this.#loaded
  }
}

function byId(given: readonly SigningKey[]): ReadonlyMap<string, RingKey> {
  if (given.length === 0) throw new TreadleError('KEY_INVALID', 'A key ring needs at least one signing key')
  for (const [at, key] of given.entries()) {
    const problem = keyProblem(key)
    const which = given.length === 1 ? 'The signing key' : `Signing key ${at + 1} of ${given.length}`
    if (problem !== undefined) throw new TreadleError('KEY_INVALID', `${which} is not used: ${problem}`)
  }
  const keys = new Map(given.map((key) => [key.id, new RingKey(key)]))
  if (keys.size !== given.length) throw new TreadleError('KEY_INVALID', 'Two signing keys have the same id')
  return keys
}

/** Refuses a genuine signature by a key that is not allowed to sign this job. */
function refuseUncovered({ id, scope }: RingKey, job: ScopedJob | undefined): void {
  if (job !== undefined && covers(scope, job)) return
  const what = job === undefined ? 'another' : `"${job.job}" on queue "${job.queue}"`
  const message = `The envelope is signed with key "${id}", which is limited to ${scopeText(scope)}; this job is ${what}`
  throw new TreadleError('SIGNATURE_INVALID', message)
}

// The identity is a JSON array without a raw line feed, and a number has none, so the separators are unambiguous.
function signedText(identity: string, payload: string, number: number | null): string {
  return number === null ? `${identity}\n${payload}` : `${number}\n${identity}\n${payload}`
}
