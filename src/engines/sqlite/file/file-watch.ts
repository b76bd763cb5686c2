import { type BigIntStats, lstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { TreadleError } from '../../../core/errors.ts'
import { LogWatch } from './log-watch.ts'

/** Which file a path named when it was opened. It can cross to the database's thread. */
export interface FileIdentity {
  /** Absolute: a program may change its folder. */
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
  /** What any connection of this program has seen of the file's content: two 32-bit numbers, see `Seen`. */
  readonly seen: SharedArrayBuffer
}

/** Undefined where there is no file at the path. */
export function identityOf(path: string): FileIdentity | undefined {
  const found = look(resolve(path))
  return found === undefined ? undefined : { path: resolve(path), dev: found.dev, ino: found.ino, seen: new SharedArrayBuffer(8) }
}

/** Before a connection is opened: SQLite would make a new file where the expected one is gone. */
export function refuseReplaced({ path, dev, ino }: FileIdentity): void {
  const found = look(path)
  if (found?.ino !== ino || found.dev !== dev) throw replaced(path, found)
}

/**
 * Whether the path still names the file that a connection has open. A file can be deleted, moved, replaced or truncated under a
 * program, and SQLite goes on writing to what nobody will ever open again.
 */
export class FileWatch {
  readonly #identity: FileIdentity
  readonly #file: string
  readonly #log: Sidecar
  readonly #index: Sidecar
  readonly #logWatch: LogWatch
  readonly #seen: Seen
  #known: BigIntStats | undefined
  #isSuspect = false

  /** `file` is what SQLite calls the file: its log and its index are named after that. */
  constructor(identity: FileIdentity, file: string) {
    this.#identity = identity
    this.#file = file
    this.#log = sidecar(`${file}-wal`)
    this.#index = sidecar(`${file}-shm`)
    this.#logWatch = new LogWatch(this.#log.path, this.#index.path)
    this.#seen = new Seen(identity.seen)
    this.#known = look(identity.path)
    this.#seen.changes(headerOf(identity))
  }

  get identity(): FileIdentity {
    return this.#identity
  }

  /** Whether the last check failed, so that nothing should be written before another one. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  check(): void {
    this.#isSuspect = true
    const { path, dev, ino } = this.#identity
    if (this.#seen.damage !== undefined) throw damaged(path, this.#seen.damage)
    // The log is named after the file: where a link stands in the file's place, others look for the log elsewhere.
    const found = look(this.#file, lstatSync)
    const named = path === this.#file ? found : look(path)
    if (found === undefined || found.ino !== ino || found.dev !== dev) throw replaced(path, found)
    if (named?.ino !== ino || named.dev !== dev) throw replaced(path, named)
    checkSidecar(path, this.#index)
    this.#checkLog(checkSidecar(path, this.#log))
    if (found.mtimeNs !== this.#known?.mtimeNs || found.size !== this.#known.size) this.#checkContent(found)
    this.#isSuspect = false
  }

  #checkLog(found: Stats | undefined): void {
    if (found === undefined || this.#logWatch.check(found)) return
    throw damaged(this.#identity.path, this.#seen.damaged('lost its log'))
  }

  /** The file itself is written to by checkpoints alone, so this is seldom done. */
  #checkContent(found: BigIntStats): void {
    const { path } = this.#identity
    const header = headerOf(this.#identity)
    const hasShrunk = found.size < (this.#known?.size ?? 0n)
    const isShort = isTooShort(header, found.size)
    const isTruncated =
      isShort && (hasShrunk || header.length < headerBytes || this.#logWatch.isAllCopied(() => this.#isTooShort()))
    if (isTruncated) throw damaged(path, this.#seen.damaged('was truncated'))
    if (!this.#seen.changes(header)) throw damaged(path, this.#seen.damaged('was overwritten with an older copy'))
    // One that is short because the log is being copied into it is looked at again.
    if (!isShort) this.#known = found
  }

  #isTooShort(): boolean {
    return isTooShort(headerOf(this.#identity), look(this.#identity.path)?.size ?? 0n)
  }
}

const damages = ['was truncated', 'was overwritten with an older copy', 'lost its log'] as const
type Damage = (typeof damages)[number]

/** Shared by all connections of the program: each of them looks at the content only when it has something to do. */
class Seen {
  /** The highest number of changes that SQLite has counted in the file's header, and which damage was found. */
  readonly #numbers: Uint32Array

  constructor(buffer: SharedArrayBuffer) {
    this.#numbers = new Uint32Array(buffer)
  }

  /** It does not pass: a file whose content another one wrote is not mended by anything but a fresh start. */
  get damage(): Damage | undefined {
    return damages[Atomics.load(this.#numbers, 1) - 1]
  }

  damaged(what: Damage): Damage {
    Atomics.store(this.#numbers, 1, damages.indexOf(what) + 1)
    return what
  }

  /** False where the file says fewer than it has said before: SQLite only counts upwards. */
  changes(header: Buffer): boolean {
    if (header.length < headerBytes) return true
    const count = header.readUInt32BE(changeCounterAt)
    for (;;) {
      const before = Atomics.load(this.#numbers, 0)
      if (count < before) return false
      if (Atomics.compareExchange(this.#numbers, 0, before, count) === before) return true
    }
  }
}

interface Sidecar {
  readonly path: string
  /** Undefined until the file is there. */
  ino: number | undefined
}

const statOptions = { bigint: true, throwIfNoEntry: false } as const

function look(path: string, stat: typeof statSync | typeof lstatSync = statSync): BigIntStats | undefined {
  try {
    return stat(path, statOptions)
  } catch {
    // A part of the path is no folder any more, or may not be entered.
    return undefined
  }
}

function sidecar(path: string): Sidecar {
  return { path, ino: lookBeside(path)?.ino }
}

function lookBeside(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** While a connection is open nobody deletes its log or its index but who should not. */
function checkSidecar(path: string, sidecar: Sidecar): Stats | undefined {
  const found = lookBeside(sidecar.path)
  if (found?.ino === sidecar.ino) return found
  if (sidecar.ino !== undefined) throw new LogReplaced(path, sidecar.path)
  sidecar.ino = found?.ino
  return found
}

/** The log of a database is gone, but what is in it can still be copied into the database. */
export class LogReplaced extends TreadleError {
  constructor(path: string, log: string) {
    const message = `${log}, which belongs to ${path}, was deleted or replaced while this program had it open. ${refusal} Stop all programs that use it, and start them again.`
    super('DATABASE_REPLACED', message)
  }
}

const refusal =
  'This program stores nothing more in it; whether its last call was stored is not known, and what it stored shortly before may be lost.'

function replaced(path: string, found: BigIntStats | undefined): TreadleError {
  const what = found === undefined ? 'was deleted or moved' : 'was replaced by another file'
  const message = `${path} ${what} while this program had it open. ${refusal} Put the file back, or restart the program to use the one that is there.`
  return new TreadleError('DATABASE_REPLACED', message)
}

function damaged(path: string, what: Damage): TreadleError {
  const restore = `delete ${path}-wal and ${path}-shm, restore the file from a backup, and start them again`
  const [happened, remedy] = what === 'lost its log' ? ['lost a part of its log', 'and start them again'] : [what, restore]
  const message = `${path} ${happened} while this program had it open. ${refusal} Stop all programs that use it, ${remedy}.`
  return new TreadleError('DATABASE_REPLACED', message)
}

// https://www.sqlite.org/fileformat.html#the_database_header
const headerBytes = 100
const pageSizeAt = 16
const changeCounterAt = 24
const pageCountAt = 28

function headerOf(identity: FileIdentity): Buffer {
  const header = Buffer.alloc(headerBytes)
  return header.subarray(0, readSync(descriptorOf(identity), header, 0, headerBytes, 0))
}

/**
 * Kept open until the program ends: on POSIX systems, closing any descriptor of a file gives up all locks that the process has on it,
 * SQLite's among them. Another program that closes the file then takes itself for the last one, and deletes the log.
 */
const descriptors = new Map<string, number>()

function descriptorOf({ path, dev, ino }: FileIdentity): number {
  const file = `${dev}:${ino}`
  const known = descriptors.get(file)
  if (known !== undefined) return known
  const opened = openSync(path, 'r')
  descriptors.set(file, opened)
  return opened
}

/** A file has all pages that its header counts, but while the log is copied into it: then the header is written before the pages are. */
function isTooShort(header: Buffer, size: bigint): boolean {
  if (header.length < headerBytes) return true
  const pageSize = header.readUInt16BE(pageSizeAt)
  const pageBytes = pageSize === 1 ? 65_536 : pageSize
  return size < BigInt(header.readUInt32BE(pageCountAt)) * BigInt(pageBytes)
}
