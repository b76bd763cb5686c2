import { createHash } from 'node:crypto'

/** A script that is called by its digest. The server caches it until its cache is flushed. */
export interface Script {
  readonly text: string
  readonly digest: string
}

export function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/** A key that never exists. */
export const noKey = 'none'

/**
 * A script that also runs while the memory of the server is full. A full server refuses a script at its first write if that may
 * need memory, and lets one go on that has begun with a deletion. What ends jobs and frees their memory must not wait for
 * memory; only what stores new jobs may be refused.
 */
export function scriptEvenWhenFull(text: string): Script {
  return script(`redis.call('DEL', KEYS[1] .. '${noKey}')\n${text}`)
}
