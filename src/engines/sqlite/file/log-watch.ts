import { closeSync, fstatSync, openSync, readSync, type Stats, statSync, truncateSync } from 'node:fs'

/**
 * Whether the log that SQLite keeps beside a file still holds what was written to it. Where it was truncated, SQLite goes on writing
 * behind the hole, and would copy the hole into the database later, at the latest when the program ends. So what is behind the first
 * thing that is missing is cut off: nothing can be copied then, and the database stays what it was when its log was last copied.
 *
 * A log only grows, and is then written over from its start. So what stood in its last frame stands there until that one is written
 * over, and that is all that is read most of the time. Where it differs, SQLite's index of the log says which frames must be there.
 */
export class LogWatch {
  readonly #log: KeptFile
  readonly #index: KeptFile
  #known: Known | undefined
  /** 0 until something was written to the log. */
  #pageBytes = 0

  constructor(log: string, index: string) {
    this.#log = new KeptFile(log)
    this.#index = new KeptFile(index)
  }

  /** False where something was lost. `found` is what the log is now. */
  check(found: Stats): boolean {
    const known = this.#known
    if (known !== undefined && known.mtimeMs === found.mtimeMs && known.size === found.size) return true
    const isSuspect = known !== undefined && (found.size < known.size || !this.#frameAt(known.lastAt).equals(known.last))
    const isWhole = isSuspect ? this.#isWhole() : true
    if (isWhole !== undefined) this.#remember(found, isSuspect)
    return isWhole !== false
  }

  /**
   * Whether what `holds` says of the database holds while the whole log has been copied into it. Where a reader was in the way, a
   * checkpoint leaves out the pages that were changed again after what that one reads: the header can then count pages that are not
   * in the database yet.
   */
  isAllCopied(holds: () => boolean): boolean {
    const before = this.#index.read(0, indexBytes)
    if (!this.#hasCopied(before) || !holds()) return false
    // The salts change with each new beginning of the log, so that equal indexes mean that nothing was copied in between.
    return this.#hasCopied(before) && before.equals(this.#index.read(0, indexBytes))
  }

  /** Whether all frames that this index counts were copied, and nobody has begun to copy more. */
  #hasCopied(index: Buffer): boolean {
    if (index.length < indexBytes) return false
    const frames = index.subarray(frameCountAt, frameCountAt + 4)
    return frames.equals(this.#index.read(copyBegunAt, 4)) && frames.equals(this.#index.read(copyDoneAt, 4))
  }

  #remember({ mtimeMs, size }: Stats, isOther: boolean): void {
    const lastAt = this.#lastFrameOf(size)
    const last = isOther || lastAt !== this.#known?.lastAt ? this.#frameAt(lastAt) : this.#known.last
    this.#known = { mtimeMs, size, lastAt, last }
  }

  /** Undefined where others write so much meanwhile that it cannot be told. */
  #isWhole(): boolean | undefined {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const index = this.#index.read(0, indexBytes)
      const frames = index.length < indexBytes ? 0 : frameCountOf(index)
      const soundBytes = this.#soundBytes(frames, saltOf(index, indexSaltAt))
      if (soundBytes === undefined) return true
      // Frames are written before the index counts them, and written over only after it has begun anew.
      if (!index.equals(this.#index.read(0, indexBytes))) continue
      this.#log.cut(soundBytes)
      return false
    }
    return undefined
  }

  /** How much of the log is as it was written; undefined where that is all that the index counts. */
  #soundBytes(frames: number, salt: Buffer): number | undefined {
    if (frames === 0) return undefined
    if (!saltOf(this.#log.read(0, logHeaderBytes), logSaltAt).equals(salt)) return 0
    const frameBytes = this.#frameBytes()
    const { size } = this.#log
    for (let at = logHeaderBytes; at < logHeaderBytes + frames * frameBytes; at += frameBytes) {
      if (at + frameBytes > size || !saltOf(this.#frameAt(at), frameSaltAt).equals(salt)) return at
    }
    return undefined
  }

  #frameAt(at: number): Buffer {
    return this.#log.read(at, frameHeaderBytes)
  }

  /** Where the last frame begins in a log of this size. */
  #lastFrameOf(size: number): number {
    const frameBytes = this.#frameBytes()
    const frames = frameBytes === frameHeaderBytes ? 0 : Math.floor((size - logHeaderBytes) / frameBytes)
    return frames < 1 ? 0 : logHeaderBytes + (frames - 1) * frameBytes
  }

  #frameBytes(): number {
    if (this.#pageBytes === 0) this.#pageBytes = pageBytesOf(this.#log.read(0, logHeaderBytes))
    return this.#pageBytes + frameHeaderBytes
  }
}

/** What was found at the last look. */
interface Known {
  readonly mtimeMs: number
  readonly size: number
  readonly lastAt: number
  readonly last: Buffer
}

/** How often it is looked again where others write to the log meanwhile. */
const mostAttempts = 10

// https://www.sqlite.org/fileformat.html#the_write_ahead_log, https://www.sqlite.org/walformat.html#the_wal_index_header
const logHeaderBytes = 32
const logPageSizeAt = 8
const logSaltAt = 16
const frameHeaderBytes = 24
const frameSaltAt = 8
const saltBytes = 8
const indexBytes = 48
const frameCountAt = 16
const indexSaltAt = 32
const copyDoneAt = 96
const copyBegunAt = 128

function saltOf(header: Buffer, at: number): Buffer {
  return header.subarray(at, at + saltBytes)
}

/** 0 where nothing was written to the log yet. */
function pageBytesOf(header: Buffer): number {
  return header.length < logHeaderBytes ? 0 : header.readUInt32BE(logPageSizeAt)
}

/** The index is memory that programs of one machine share, with numbers in that machine's own order. */
function frameCountOf(index: Buffer): number {
  return new Uint32Array(Uint8Array.from(index.subarray(frameCountAt, frameCountAt + 4)).buffer)[0] as number
}

/** A file that is read from time to time, and opened the first time. */
class KeptFile {
  readonly #path: string
  #descriptor: number | undefined

  constructor(path: string) {
    this.#path = path
  }

  get size(): number {
    return fstatSync(this.#open()).size
  }

  /** What there is of it. */
  read(at: number, bytes: number): Buffer {
    const found = Buffer.allocUnsafe(bytes)
    return found.subarray(0, readSync(this.#open(), found, 0, bytes, at))
  }

  /** Takes away what is behind `bytes`: so that whoever would copy what is no longer right fails, and does no harm. */
  cut(bytes: number): void {
    try {
      truncateSync(this.#path, bytes)
    } catch {
      // It may not be written to, and so was not written to by this program.
    }
  }

  #open(): number {
    this.#descriptor ??= keptDescriptor(this.#path)
    return this.#descriptor
  }
}

/**
 * One for each path, open until another file has its name: on POSIX systems, closing any descriptor of the index gives up all locks
 * that the process has on it, SQLite's among them.
 */
const kept = new Map<string, number>()

function keptDescriptor(path: string): number {
  const before = kept.get(path)
  if (before !== undefined && fstatSync(before).ino === statSync(path).ino) return before
  const opened = openSync(path, 'r')
  kept.set(path, opened)
  if (before !== undefined) closeSync(before)
  return opened
}
