import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { suggestion } from '../../core/options.ts'
import { type KeyScope, scopeProblem } from './key-scope.ts'

/** A signing key: the id that travels with each signature, at least 16 bytes of secret, and the jobs it may sign. */
export interface SigningKey extends KeyScope {
  readonly id: string
  readonly secret: string
}

/** A key that is ready for use. It never reveals its secret. */
export class RingKey {
  readonly id: string
  readonly scope: KeyScope
  readonly #secret: KeyObject
  #encryption: KeyObject | undefined

  constructor(key: SigningKey) {
    const { id, secret, queues, jobs } = key
    this.id = id
    this.scope = { ...(queues !== undefined && { queues }), ...(jobs !== undefined && { jobs }) }
    this.#secret = createSecretKey(secret, 'utf8')
  }

  /** Derived from the same secret, but different from the signing key. */
  get encryptionKey(): KeyObject {
    this.#encryption ??= createSecretKey(Buffer.from(hkdfSync('sha256', this.#secret, '', 'treadle encryption v1', 32)))
    return this.#encryption
  }

  digest(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }

  /** Compares in constant time. */
  matches(text: string, claimed: string): boolean {
    // Compare the texts, not what they decode to: a digest has only one spelling.
    if (claimed.length !== digestChars || claimedText.write(claimed, 'utf8') !== digestChars) return false
    actualBytes.write(this.digest(text), 'latin1')
    return timingSafeEqual(actualBytes, claimedBytes)
  }
}

/** Length of a SHA-256 digest in base64url. */
const digestChars = 43
// Allocated once: two small buffers per signature would cost more than the comparison.
const actualBytes = Buffer.alloc(digestChars)
const claimedText = Buffer.alloc(3 * digestChars)
const claimedBytes = claimedText.subarray(0, digestChars)

const minSecretBytes = 16
const members: readonly string[] = ['id', 'secret', 'queues', 'jobs']

/** What is wrong with a key; undefined if nothing is. Never quotes its id or its secret: they may have been swapped. */
export function keyProblem(key: SigningKey): string | undefined {
  // A misspelt limit must not turn into no limit.
  const unknown = Object.keys(key).find((member) => !members.includes(member))
  if (unknown !== undefined) return `has an unknown member ${JSON.stringify(unknown)}${suggestion(unknown, members)}`
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(key.id)) return 'needs an id of 1 to 64 letters, digits, "_" or "-"'
  if (Buffer.byteLength(key.secret) < minSecretBytes) return `needs a secret of at least ${minSecretBytes} bytes`
  return scopeProblem(key)
}
