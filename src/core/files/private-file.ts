import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type ErrorCode, messageOf, TreadleError } from '../errors.ts'
import { processUser } from '../process/environment.ts'
import { sync, syncFolderOf } from './durable-file.ts'
import { isTrustedOwner, ownerAdvice, quoted, trustProblem } from './file-trust.ts'
import { kindOf } from './special-file.ts'

/** A file that contains a secret, as described in messages. */
export interface PrivateFile {
  readonly path: string
  /** For example, `key file`. */
  readonly what: string
  readonly code: ErrorCode
}

/**
 * Reads a secret file; undefined if it does not exist. Like ssh, it rejects a file that others can read, write or replace, at any
 * folder or link on the way to it. The checks are made on the open file, so that it cannot be swapped in between. Windows has no
 * such permissions.
 */
export function readPrivateFile(file: PrivateFile): string | undefined {
  return withPrivateFile(file, (descriptor) => readFileSync(descriptor, 'utf8'))
}

/**
 * Like `readPrivateFile`, and syncs the file, whoever created it: durable data will depend on it, so it must survive a power
 * failure too.
 */
export function readDurablePrivateFile(file: PrivateFile): string | undefined {
  return withPrivateFile(file, (descriptor) => {
    const text = readFileSync(descriptor, 'utf8')
    sync(descriptor)
    syncFolderOf(file.path)
    return text
  })
}

/** Throws if others could access a secret that is about to be written there. */
export function refuseOpenFolder(file: PrivateFile): void {
  refuseProblem(file, dirname(resolve(file.path)))
}

function withPrivateFile(file: PrivateFile, read: (descriptor: number) => string): string | undefined {
  let descriptor: number
  try {
    // Opening a pipe would otherwise block until someone writes to it.
    descriptor = openSync(file.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(file, cause)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) refuse(file, `it is ${kindOf(stats)}, not a file`)
    refuseShared(file, stats)
    return read(descriptor)
  } catch (thrown) {
    throw thrown instanceof TreadleError ? thrown : unreadable(file, thrown)
  } finally {
    closeSync(descriptor)
  }
}

const othersRights = 0o077

function refuseShared(file: PrivateFile, found: Stats): void {
  const { uid, mode } = found
  const user = processUser()
  if (user === undefined) return
  if (!isTrustedOwner(uid, user)) refuse(file, `it belongs to another user (${uid}). ${ownerAdvice(file.path, found)}`)
  if ((mode & othersRights) !== 0) {
    const rights = (mode & 0o777).toString(8).padStart(3, '0')
    refuse(file, `others may use it (its mode is ${rights}). Run: chmod 600 ${quoted(file.path)}`)
  }
  refuseProblem(file, file.path)
}

function refuseProblem(file: PrivateFile, path: string): void {
  const problem = trustProblem(path, 'who could put another file in its place')
  if (problem !== undefined) refuse(file, problem)
}

function refuse({ path, what, code }: PrivateFile, why: string): never {
  throw new TreadleError(code, `The ${what} ${path} is not used: ${why}`)
}

function unreadable({ path, what, code }: PrivateFile, cause: unknown): TreadleError {
  return new TreadleError(code, `The ${what} ${path} cannot be read: ${messageOf(cause)}`, { cause })
}
