import { randomBytes } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { createDurably, replaceDurably, withLock } from '../../core/files/durable-file.ts'
import { type PrivateFile, readDurablePrivateFile, refuseOpenFolder } from '../../core/files/private-file.ts'
import { randomToken } from '../../core/id.ts'
import { KeyRing, type KeyRingOptions, type SigningKey } from './key-ring.ts'
import { isLimited, type KeyScope } from './key-scope.ts'
import { keyProblem } from './ring-key.ts'

export interface KeyFileOptions extends KeyRingOptions {
  /** The id of a key that waiting jobs are signed with, if the file did not exist when the queue was opened. */
  readonly neededKey?: string | null
}

/**
 * The key ring in a file that only its owner can read: one line per key, the signing key first. If there is no file, it is
 * created with a new key when something is first signed or verified, unless jobs are waiting: a new key would refuse all of them.
 */
export function keyRingFromFile(path: string, { neededKey = null, ...options }: KeyFileOptions = {}): KeyRing {
  return new KeyRing(() => readKeyFile(path) ?? (neededKey === null ? createKeyFile(path) : refuseLost(path, neededKey)), options)
}

function refuseLost(path: string, key: string): never {
  const message = `The key file ${path} is missing, and waiting jobs are signed with its key ${JSON.stringify(key)}. Restore it from a backup. To start with a new key, with which these jobs are refused, run: treadle keys create --file ${path}`
  throw new TreadleError('KEY_UNKNOWN', message)
}

/** Undefined if there is no such file. The keys are on disk when this returns. */
export function readKeyFile(path: string): readonly SigningKey[] | undefined {
  const text = readDurablePrivateFile(keyFile(path))
  return text === undefined ? undefined : parseKeys(text, path)
}

/** The keys of a file that must already exist. */
export function existingKeys(path: string): readonly SigningKey[] {
  const keys = readKeyFile(path)
  if (keys !== undefined) return keys
  throw new TreadleError('KEY_UNKNOWN', `There is no key file ${path}. Run: treadle keys create --file ${path}`)
}

/** If several programs create the file at once, all use the key of the first. */
export function createKeyFile(path: string, scope: KeyScope = {}): readonly SigningKey[] {
  try {
    refuseOpenFolder(keyFile(path))
    createDurably(path, keyFileText([newKey(scope)]))
  } catch (cause) {
    if (cause instanceof TreadleError) throw cause
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, messageOf(cause), cause)
  }
  const keys = readKeyFile(path)
  if (keys !== undefined) return keys
  throw unwritable(path, isLink(path) ? 'it is a link that leads nowhere' : 'it was removed at the same moment')
}

/** Replaces all keys at once, and only if they have not been changed since `before` was read. */
export function replaceKeys(path: string, before: readonly SigningKey[], after: readonly SigningKey[]): void {
  // Never write keys that could not be read again.
  parseKeys(keyFileText(after), path)
  const file = realpathSync(path)
  const lock = `${file}.lock`
  const isReplaced = withLock(lock, () => {
    if (keyFileText(existingKeys(path)) !== keyFileText(before)) return false
    replaceDurably(file, keyFileText(after))
    return true
  })
  if (isReplaced) return
  const advice = isReplaced === null ? `If no program is changing it, delete ${lock}.` : ''
  throw new TreadleError(
    'KEY_INVALID',
    `The key file ${path} was changed by another program at the same moment. Try again.${advice}`,
  )
}

const secretBytes = 32

export function newKey(scope: KeyScope = {}): SigningKey {
  return { id: `k-${randomToken().slice(0, 8)}`, secret: randomBytes(secretBytes).toString('base64url'), ...scope }
}

/** `id secret`, followed by what the key is limited to: `queues=mail,reports jobs=mail-*`. */
export function keyFileText(keys: readonly SigningKey[]): string {
  return keys.map((key) => `${[key.id, key.secret, ...scopeWords(key)].join(' ')}\n`).join('')
}

function scopeWords(scope: KeyScope): readonly string[] {
  if (!isLimited(scope)) return []
  return scopeParts.flatMap((part) => (scope[part] === undefined ? [] : [`${part}=${scope[part].join(',')}`]))
}

const scopeParts = ['queues', 'jobs'] as const

/** Throws unless the keys are ones that a program can use. Errors name line numbers, never the contents. */
function parseKeys(text: string, path: string): readonly SigningKey[] {
  const keys: SigningKey[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    const [id, secret, ...rest] = line.trim().split(/\s+/)
    if (id === undefined || secret === undefined) throw misshapen(path)
    const key = { id, secret, ...parseScope(rest, path) }
    const problem = keyProblem(key)
    if (problem !== undefined)
      throw new TreadleError('KEY_INVALID', `The key in line ${at + 1} of ${path} is not used: ${problem}`)
    if (keys.some((other) => other.id === id)) throw new TreadleError('KEY_INVALID', `Line ${at + 1} of ${path} repeats an id`)
    keys.push(key)
  }
  if (keys.length > 0) return keys
  throw new TreadleError(
    'KEY_INVALID',
    `${path} has no keys. Restore it from a backup, or delete it and run: treadle keys create`,
  )
}

function parseScope(words: readonly string[], path: string): KeyScope {
  const scope: { queues?: readonly string[]; jobs?: readonly string[] } = {}
  for (const word of words) {
    const part = scopeParts.find((each) => word.startsWith(`${each}=`))
    // A misspelt limit must not turn into no limit.
    if (part === undefined || scope[part] !== undefined) throw misshapen(path)
    scope[part] = word.slice(part.length + 1).split(',')
  }
  return scope
}

function misshapen(path: string): TreadleError {
  const message = `${path} must hold lines of an id and a secret, the key that signs first; after them only queues=NAMES and jobs=NAMES`
  return new TreadleError('KEY_INVALID', message)
}

function keyFile(path: string): PrivateFile {
  return { path, what: 'key file', code: 'KEY_INVALID' }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
}

function unwritable(path: string, why: string, cause?: unknown): TreadleError {
  const message = `The key file ${path} cannot be written (${why}). Check that its folder may be written to, or give a signingKey.`
  return new TreadleError('KEY_INVALID', message, { cause })
}
