import { decryptText, encryptText, parseEncrypted, passingKey } from '../../../envelope/encryption.ts'

/** Generated per process: a bookmark is valid for as long as the server that issued it runs. */
const key = passingKey()
const context = 'bookmark'
const start = '~'

/** Where a page continues after a job that the token may not see, without revealing the job's id. */
export function bookmarkOf(id: string): string {
  return `${start}${Buffer.from(encryptText(id, context, '', key)).toString('base64url')}`
}

/** The id of the job; undefined if it is not a bookmark that this server has issued. */
export function markedBy(text: string): string | undefined {
  if (!text.startsWith(start)) return undefined
  try {
    const encrypted = parseEncrypted(Buffer.from(text.slice(start.length), 'base64url').toString())
    return encrypted && decryptText(encrypted, context, key)
  } catch {
    return undefined
  }
}
