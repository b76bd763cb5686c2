import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { TreadleError } from '../core/errors.ts'
import { type KeyScope, scopeProblem } from './key-scope.ts'

/** A signing key: the id that travels with each signature, at least 16 bytes of secret, and the jobs that it may sign. */
export interface SigningKey extends KeyScope {
  readonly id: string
  readonly secret: string
}

/** A key that is ready to be used. It never shows its secret. */
export class RingKey {
  readonly id: string
  readonly scope: KeyScope
  readonly #secret: KeyObject
  #encryption: KeyObject | undefined

  constructor(key: SigningKey) {
    checkKey(key)
    const { id, secret, queues, jobs } = key
    this.id = id
    this.scope = { ...(queues !== undefined && { queues }), ...(jobs !== undefined && { jobs }) }
    this.#secret = createSecretKey(secret, 'utf8')
  }

  /** Another key than the one that signs, made of the same secret. */
  get encryptionKey(): KeyObject {
    this.#encryption ??= createSecretKey(Buffer.from(hkdfSync('sha256', this.#secret, '', 'treadle encryption v1', 32)))
    return this.#encryption
  }

  digest(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }

  /** In a time that does not tell where the two differ. */
  matches(text: string, claimed: string): boolean {
    // Texts are compared, not what they decode to: a digest has one spelling.
    const actualBytes = Buffer.from(this.digest(text), 'latin1')
    const claimedBytes = Buffer.from(claimed, 'utf8')
    return actualBytes.length === claimedBytes.length && timingSafeEqual(actualBytes, claimedBytes)
  }
}

const minSecretBytes = 16

function checkKey(key: SigningKey): void {
  const { id, secret } = key
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    throw new TreadleError('KEY_INVALID', `A signing key's id must be 1 to 64 letters, digits, "_" or "-", got "${id}"`)
  }
  if (Buffer.byteLength(secret) < minSecretBytes) {
    throw new TreadleError('KEY_INVALID', `The secret of signing key "${id}" must have at least ${minSecretBytes} bytes`)
  }
  const problem = scopeProblem(key)
  if (problem !== undefined) throw new TreadleError('KEY_INVALID', `Signing key "${id}": ${problem}`)
}
