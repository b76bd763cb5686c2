import { digest } from '../../../core/text/digest.ts'

/** The server's maximum length of a tube name, in bytes. */
const longestName = 200
const plain = /[A-Za-z0-9._/;+()-]/
const escapeSign = '$'

/**
 * Maps queues to tubes: the prefix, a dot and the queue's name, in which every byte that a tube name cannot contain is written as
 * `$` and two hexadecimal digits. A name that would be too long ends in a digest of the queue's name.
 */
export class TubeNames {
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = `${prefix}.`
  }

  tubeOf(queue: string): string {
    const name = this.#prefix + [...Buffer.from(queue)].map(written).join('')
    if (name.length <= longestName) return name
    const mark = `${escapeSign}${escapeSign}${digest(queue)}`
    return name.slice(0, longestName - mark.length) + mark
  }

  isOurs(tube: string): boolean {
    return tube.startsWith(this.#prefix)
  }

  /** The queue of this tube; if its name was too long, the part that was kept. */
  queueOf(tube: string): string {
    const [name = ''] = tube.slice(this.#prefix.length).split(escapeSign + escapeSign)
    return decoded(name)
  }
}

function written(byte: number): string {
  const character = String.fromCharCode(byte)
  return plain.test(character) ? character : `${escapeSign}${byte.toString(16).padStart(2, '0')}`
}

function decoded(name: string): string {
  const bytes = [...name.matchAll(/\$([0-9a-f]{2})|[^$]/g)].map(([character, hex]) =>
    hex === undefined ? character.charCodeAt(0) : Number.parseInt(hex, 16),
  )
  return Buffer.from(bytes).toString()
}
