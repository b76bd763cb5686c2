import { createHash } from 'node:crypto'

/** A script, called by its digest: the server keeps it, unless somebody has made it forget. */
export interface Script {
  readonly text: string
  readonly digest: string
}

export function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}
