import { createHash } from 'node:crypto'

/** A script that is called by its digest. The server caches it until its cache is flushed. */
export interface Script {
  readonly text: string
  readonly digest: string
}

export function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}
