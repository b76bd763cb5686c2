import { randomBytes } from 'node:crypto'
import { constants, copyFileSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { messageOf, TreadleError } from '../core/errors.ts'
import { randomToken } from '../core/id.ts'
import { KeyRing, type SigningKey } from './key-ring.ts'

/**
 * The key ring of a file that only its owner can read: a line for each key, `id secret`, the one that signs first. The file is
 * made with a new key where there is none.
 */
export function keyRingFromFile(path: string): KeyRing {
  const text = readOrNothing(path) ?? createKeyFile(path)
  return new KeyRing(parseKeys(text, path))
}

const secretBytes = 32

/** Linked into place whole, so that of several programs that start at once all use the key of the first. */
function createKeyFile(path: string): string {
  const text = `k-${randomToken().slice(0, 8)} ${randomBytes(secretBytes).toString('base64url')}\n`
  const draft = `${path}.${randomToken()}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    place(draft, path)
    return text
  } catch (cause) {
    const made = readOrNothing(path)
    if (made !== undefined) return made
    const message = `The signing key ${path} can not be written (${messageOf(cause)}). Check that its folder may be written to, or give a signingKey.`
    throw new TreadleError('KEY_INVALID', message, { cause })
  }
}

/** Fails where the file is there already. Some file systems have no hard links: there the first one to start wins by a hair. */
function place(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw cause
    copyFileSync(draft, path, constants.COPYFILE_EXCL)
  } finally {
    unlinkSync(draft)
  }
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new TreadleError('KEY_INVALID', `The signing key ${path} can not be read: ${messageOf(cause)}`, { cause })
  }
}

function parseKeys(text: string, path: string): readonly SigningKey[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [id, secret, ...rest] = line.trim().split(/\s+/)
    if (id === undefined || secret === undefined || rest.length > 0) {
      throw new TreadleError('KEY_INVALID', `${path} must hold lines of an id and a secret, the key that signs first`)
    }
    return { id, secret }
  })
}
