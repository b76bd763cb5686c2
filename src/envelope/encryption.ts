import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** An encrypted text as it is stored: JSON, so that it can be used wherever a payload can. */
export interface Encrypted {
  readonly encrypted: true
  /** The key it was encrypted with. */
  readonly kid: string
  readonly nonce: string
  readonly data: string
}

const algorithm = 'aes-256-gcm'
const [nonceBytes, tagBytes, keyBytes] = [12, 16, 32] as const

/** A key for data that only this process will read again. */
export function passingKey(): KeyObject {
  return createSecretKey(randomBytes(keyBytes))
}

/** Binds the text to `context`, which is not secret: it cannot be decrypted in any other context. */
export function encryptText(text: string, context: string, kid: string, key: KeyObject): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context))
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  const whole: Encrypted = { encrypted: true, kid, nonce: nonce.toString('base64url'), data: data.toString('base64url') }
  return JSON.stringify(whole)
}

/** Throws if the text was changed, belongs to another context, or was encrypted with another key. */
export function decryptText({ nonce, data }: Encrypted, context: string, key: KeyObject): string {
  const bytes = Buffer.from(data, 'base64url')
  const decipher = createDecipheriv(algorithm, key, Buffer.from(nonce, 'base64url'), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes))
  return decipher.update(bytes.subarray(0, -tagBytes)).toString('utf8') + decipher.final('utf8')
}

/** Parses what `encryptText` has written; undefined for any other text. */
export function parseEncrypted(text: string): Encrypted | undefined {
  // Most texts are not encrypted, so avoid parsing them.
  if (!text.startsWith('{"encrypted":true,"kid":')) return undefined
  try {
    const { encrypted, kid, nonce, data, ...rest } = JSON.parse(text) as Partial<Encrypted>
    const isWhole = typeof kid === 'string' && typeof nonce === 'string' && typeof data === 'string'
    return encrypted === true && isWhole && Object.keys(rest).length === 0 ? { encrypted, kid, nonce, data } : undefined
  } catch {
    return undefined
  }
}

/** A payload or a result in a form that anyone may see. For an encrypted one, only that it is encrypted and with which key. */
export function shownText<Text extends string | null>(text: Text): Text | string {
  const encrypted = text === null ? undefined : parseEncrypted(text)
  return encrypted === undefined ? text : JSON.stringify({ encrypted: true, kid: encrypted.kid })
}
