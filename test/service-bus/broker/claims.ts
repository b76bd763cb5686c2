import { createHmac, timingSafeEqual } from 'node:crypto'

export type Right = 'Send' | 'Listen'

/** A shared access key of the namespace. */
export interface AccessKey {
  readonly name: string
  readonly key: string
  readonly rights: readonly Right[]
}

/** The key that signed a token, or undefined where none of these did. */
export function keyOfToken(token: string, keys: readonly AccessKey[]): AccessKey | undefined {
  const fields = new URLSearchParams(token.replace(/^SharedAccessSignature /, ''))
  const [resource, signature, expiry, name] = ['sr', 'sig', 'se', 'skn'].map((field) => fields.get(field) ?? '')
  const key = keys.find((each) => each.name === name)
  if (key === undefined) return undefined
  const expected = createHmac('sha256', key.key)
    .update(`${encodeURIComponent(resource as string)}\n${expiry}`)
    .digest()
  const given = Buffer.from(signature as string, 'base64')
  return given.length === expected.length && timingSafeEqual(given, expected) ? key : undefined
}
