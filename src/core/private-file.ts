import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { sync, syncFolderOf } from './durable-file.ts'
import { processUser } from './environment.ts'
import { type ErrorCode, messageOf, TreadleError } from './errors.ts'

/** A file that holds a secret, as messages speak of it. */
export interface PrivateFile {
  readonly path: string
  /** Such as `key file`. */
  readonly what: string
  readonly code: ErrorCode
}

/**
 * What a file holds that is nobody else's business; undefined where there is none. As ssh does, it refuses a file that others can
 * read, write or put another in the place of. A symbolic link is followed where its owner is trusted, and then counts what it leads
 * to. The checks are made on the open file, so that it cannot be exchanged in between. Windows has no such rights.
 */
export function readPrivateFile(file: PrivateFile): string | undefined {
  return withPrivateFile(file, (descriptor) => readFileSync(descriptor, 'utf8'))
}

/** The same, of a file that something will depend on which outlives a power cut: then the file must too, whoever made it. */
export function readDurablePrivateFile(file: PrivateFile): string | undefined {
  return withPrivateFile(file, (descriptor) => {
    const text = readFileSync(descriptor, 'utf8')
    sync(descriptor)
    syncFolderOf(file.path)
    return text
  })
}

/** Before a secret is written there. */
export function refuseOpenFolder(file: PrivateFile): void {
  const user = processUser()
  if (user === undefined) return
  const folder = dirname(resolve(file.path))
  const { mode } = statSync(folder)
  if ((mode & othersMayWrite) === 0 || (mode & sticky) !== 0) return
  refuse(file, `everybody may replace files in ${folder}. Run: chmod o-w ${quoted(folder)}, or move it to a folder of its own`)
}

function withPrivateFile(file: PrivateFile, read: (descriptor: number) => string): string | undefined {
  let descriptor: number
  try {
    // A pipe would be waited for until somebody writes to it.
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

const [othersMayWrite, sticky, othersRights] = [0o002, 0o1000, 0o077] as const

function refuseShared(file: PrivateFile, { uid, mode }: Stats): void {
  const user = processUser()
  if (user === undefined) return
  if (!isTrusted(uid, user)) {
    refuse(file, `it belongs to another user (${uid}). Run: chown ${user} ${quoted(file.path)}`)
  }
  if ((mode & othersRights) !== 0) {
    const rights = (mode & 0o777).toString(8).padStart(3, '0')
    refuse(file, `others may use it (its mode is ${rights}). Run: chmod 600 ${quoted(file.path)}`)
  }
  refuseOpenFolder(file)
  const link = lstatSync(file.path)
  if (!link.isSymbolicLink()) return
  if (!isTrusted(link.uid, user)) refuse(file, `it is a link that belongs to another user (${link.uid})`)
  refuseOpenFolder({ ...file, path: realpathSync(file.path) })
}

/** Root may do anything here anyway. */
function isTrusted(owner: number, user: number): boolean {
  return owner === user || owner === 0
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder'
  return stats.isFIFO() ? 'a pipe' : stats.isSocket() ? 'a socket' : 'a device'
}

function quoted(path: string): string {
  return /^[\w./+@%:,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

function refuse({ path, what, code }: PrivateFile, why: string): never {
  throw new TreadleError(code, `The ${what} ${path} is not used: ${why}`)
}

function unreadable({ path, what, code }: PrivateFile, cause: unknown): TreadleError {
  return new TreadleError(code, `The ${what} ${path} cannot be read: ${messageOf(cause)}`, { cause })
}
