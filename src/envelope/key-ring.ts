import { TreadleError } from '../core/errors.ts'
import { Mac } from './mac.ts'

/** A signing key: the id that travels with each signature, and at least 16 bytes of secret. */
export interface SigningKey {
  readonly id: string
  readonly secret: string
}

/**
 * Signs with its first key and accepts the signatures of all of them: to rotate, put a new key in front, and take the old one
 * out when the jobs that it signed are gone.
 */
export class KeyRing {
  /** Whether what is not signed at all passes, while programs that do not sign yet are being replaced. */
  readonly acceptsUnsigned: boolean = false
  readonly #current: string
  readonly #signer: Mac
  readonly #keys: ReadonlyMap<string, Mac>

  constructor(keys: readonly SigningKey[]) {
    const [current] = keys
    if (current === undefined) throw new TreadleError('KEY_INVALID', 'A key ring needs at least one signing key')
    for (const key of keys) checkKey(key)
    this.#current = current.id
    this.#keys = new Map(keys.map((key) => [key.id, new Mac(key.secret)]))
    this.#signer = this.#keys.get(current.id) as Mac
    if (this.#keys.size !== keys.length) throw new TreadleError('KEY_INVALID', 'Two signing keys have the same id')
  }

  /** `kid.signature`, over the identity and the payload as they travel. */
  sign(identity: string, payload: string): string {
    return `${this.#current}.${this.#signer.digest(signedText(identity, payload))}`
  }

  verify(identity: string, payload: string, signature: string | null): void {
    if (signature === null) throw new TreadleError('SIGNATURE_MISSING', 'The envelope is not signed')
    const dot = signature.indexOf('.')
    const key = this.#keys.get(signature.slice(0, dot))
    if (dot < 1 || key === undefined) {
      throw new TreadleError('SIGNATURE_INVALID', 'The envelope is signed with a key that is not in the key ring')
    }
    if (!key.matches(signedText(identity, payload), signature.slice(dot + 1))) {
      throw new TreadleError('SIGNATURE_INVALID', 'The envelope was changed after it was signed')
    }
  }

  /** `kid.signature` over a text that is no envelope: its first line is to say what it is. */
  signText(text: string): string {
    return `${this.#current}.${this.#signer.digest(text)}`
  }

  verifyText(text: string, signature: string): boolean {
    const dot = signature.indexOf('.')
    const key = dot < 1 ? undefined : this.#keys.get(signature.slice(0, dot))
    return key?.matches(text, signature.slice(dot + 1)) ?? false
  }
}

// Both parts are JSON texts, so neither can hold a raw line feed: the separator makes the pair unambiguous.
function signedText(identity: string, payload: string): string {
  return `${identity}\n${payload}`
}

const minSecretBytes = 16

function checkKey({ id, secret }: SigningKey): void {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    throw new TreadleError('KEY_INVALID', `A signing key's id must be 1 to 64 letters, digits, "_" or "-", got "${id}"`)
  }
  if (Buffer.byteLength(secret) < minSecretBytes) {
    throw new TreadleError('KEY_INVALID', `The secret of signing key "${id}" must have at least ${minSecretBytes} bytes`)
  }
}
