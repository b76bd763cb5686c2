import { type BigIntStats, lstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TreadleError } from '../../../core/errors.ts'
import { FolderWatch } from './folder-watch.ts'
import { LogWatch } from './log-watch.ts'

/** Identifies the file that a path referred to when it was opened. Can be passed to the database thread. */
export interface FileIdentity {
  /** Absolute, because a program may change its working directory. */
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
  /** What the connections of this program have seen of the file's content: two 32-bit numbers, see `Seen`. */
  readonly seen: SharedArrayBuffer
}

/** Undefined if there is no file at the path. */
export function identityOf(path: string): FileIdentity | undefined {
  const found = look(resolve(path))
  return found === undefined ? undefined : { path: resolve(path), dev: found.dev, ino: found.ino, seen: new SharedArrayBuffer(8) }
}

/** Call before opening a connection: SQLite would create a new file if the expected one is gone. */
export function refuseReplaced({ path, dev, ino }: FileIdentity): void {
  const found = look(path)
  if (found?.ino !== ino || found.dev !== dev) throw replaced(path, found)
}

/**
 * Checks that the path still refers to the file that a connection has open. A file can be deleted, moved, replaced or truncated
 * while a program runs, and SQLite would keep writing to a file that nothing will ever open again.
 */
export class FileWatch {
  readonly #identity: FileIdentity
  readonly #file: string
  readonly #log: Sidecar
  readonly #index: Sidecar
  readonly #logWatch: LogWatch
  readonly #folder: FolderWatch
  readonly #seen: Seen
  #known: BigIntStats | undefined
  #isSuspect = false

  /** `file` is the path as SQLite reports it: the log and its index are named after it. */
  constructor(identity: FileIdentity, file: string) {
    this.#identity = identity
    this.#file = file
    this.#log = sidecar(`${file}-wal`)
    this.#index = sidecar(`${file}-shm`)
    this.#logWatch = new LogWatch(this.#log.path, this.#index.path)
    this.#folder = new FolderWatch(dirname(file))
    this.#seen = new Seen(identity.seen)
    this.#known = look(identity.path)
    this.#seen.changes(headerOf(identity))
  }

  get identity(): FileIdentity {
    return this.#identity
  }

  /** Whether the last check failed: then nothing may be written until another check passes. */
  get isSuspect(): boolean {
    return this.#isSuspect
  }

  check(): void {
    this.#isSuspect = true
    const { path, dev, ino } = this.#identity
    if (this.#seen.damage !== undefined) throw damaged(path, this.#seen.damage)
    // The log is named after the file. If a link replaced the file, other programs look for the log elsewhere.
    const found = look(this.#file, lstatSync)
    const named = path === this.#file ? found : look(path)
    if (found === undefined || found.ino !== ino || found.dev !== dev) throw replaced(path, found)
    if (named?.ino !== ino || named.dev !== dev) throw replaced(path, named)
    if (!this.#folder.isUnchanged() || !this.#logWatch.endsAsBefore()) {
      this.#checkSidecars()
      this.#folder.passed()
    }
    if (found.mtimeNs !== this.#known?.mtimeNs || found.size !== this.#known.size) this.#checkContent(found)
    this.#isSuspect = false
  }

  #checkSidecars(): void {
    const { path } = this.#identity
    checkSidecar(path, this.#index)
    const found = checkSidecar(path, this.#log)
    if (found === undefined || this.#logWatch.check(found)) return
    throw damaged(path, this.#seen.damaged('lost its log'))
  }

  /** Only checkpoints write to the file itself, so this rarely runs. */
  #checkContent(found: BigIntStats): void {
    const { path } = this.#identity
    const header = headerOf(this.#identity)
    const hasShrunk = found.size < (this.#known?.size ?? 0n)
    const isShort = isTooShort(header, found.size)
    const isTruncated =
      isShort && (hasShrunk || header.length < headerBytes || this.#logWatch.isAllCopied(() => this.#isTooShort()))
    if (isTruncated) throw damaged(path, this.#seen.damaged('was truncated'))
    if (!this.#seen.changes(header)) throw damaged(path, this.#seen.damaged('was overwritten with an older copy'))
    // A file that is short because the log is still being copied into it is checked again next time.
    if (!isShort) this.#known = found
  }

  #isTooShort(): boolean {
    return isTooShort(headerOf(this.#identity), look(this.#identity.path)?.size ?? 0n)
  }
}

const damages = ['was truncated', 'was overwritten with an older copy', 'lost its log'] as const
type Damage = (typeof damages)[number]

/** Shared by all connections of the program, because each one checks the content only when it has work to do. */
class Seen {
  /** The highest change counter seen in the file's header, and the damage found, if any. */
  readonly #numbers: Uint32Array

  constructor(buffer: SharedArrayBuffer) {
    this.#numbers = new Uint32Array(buffer)
  }

  /** Damage is permanent: after the content was overwritten, only a restart helps. */
  get damage(): Damage | undefined {
    return damages[Atomics.load(this.#numbers, 1) - 1]
  }

  damaged(what: Damage): Damage {
    Atomics.store(this.#numbers, 1, damages.indexOf(what) + 1)
    return what
  }

  /** False if the file's change counter went backwards: SQLite only increments it. */
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
  /** Undefined until the file exists. */
  ino: number | undefined
}

const statOptions = { bigint: true, throwIfNoEntry: false } as const

function look(path: string, stat: typeof statSync | typeof lstatSync = statSync): BigIntStats | undefined {
  try {
    return stat(path, statOptions)
  } catch {
    // Part of the path is no longer a folder, or cannot be accessed.
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

/** While a connection is open, its log and index are never deleted legitimately. */
function checkSidecar(path: string, sidecar: Sidecar): Stats | undefined {
  const found = lookBeside(sidecar.path)
  if (found?.ino === sidecar.ino) return found
  if (sidecar.ino !== undefined) throw new LogReplaced(path, sidecar.path)
  sidecar.ino = found?.ino
  return found
}

/** The log of a database is gone, but its content can still be copied into the database. */
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
 * Kept open until the program ends: on POSIX systems, closing any descriptor of a file releases all locks that the process holds
 * on it, including SQLite's. Another program that closes the file would then believe it is the last one and delete the log.
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

/** A file has all pages its header counts, except while the log is copied into it: the header is written before the pages. */
function isTooShort(header: Buffer, size: bigint): boolean {
  if (header.length < headerBytes) return true
  const pageSize = header.readUInt16BE(pageSizeAt)
  const pageBytes = pageSize === 1 ? 65_536 : pageSize
  return size < BigInt(header.readUInt32BE(pageCountAt)) * BigInt(pageBytes)
}
