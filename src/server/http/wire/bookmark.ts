import { decryptText, encryptText, parseEncrypted, passingKey } from '../../../envelope/encryption.ts'

/** Of this process: a bookmark holds for as long as the server that gave it lives. */
const key = passingKey()
const context = 'bookmark'
const start = '~'

/** Where a page goes on behind a job that the token may not see: nobody reads the job's id in it. */
export function bookmarkOf(id: string): string {
  return `${start}${Buffer.from(encryptText(id, context, '', key)).toString('base64url')}`
}

/** The id of the job; undefined where it is no bookmark that this server has given. */
export function markedBy(text: string): string | undefined {
  if (!text.startsWith(start)) return undefined
  try {
    const encrypted = parseEncrypted(Buffer.from(text.slice(start.length), 'base64url').toString())
    return encrypted && decryptText(encrypted, context, key)
  } catch {
    return undefined
  }
}
