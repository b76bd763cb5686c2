import { closeSync, fstatSync, openSync, readSync, type Stats, statSync, truncateSync } from 'node:fs'

/**
 * Checks that SQLite's log still holds what was written to it. If it was truncated, SQLite keeps writing behind the hole and
 * later copies the hole into the database, at the latest when the program ends. So everything after the first missing part is cut
 * off: nothing can be copied then, and the database stays as it was when its log was last copied.
 *
 * A log only grows, and is then overwritten from its start. So its last frame stays the same until it is overwritten, and most of
 * the time only that frame is read. If it differs, SQLite's index of the log says which frames must exist.
 */
export class LogWatch {
  readonly #log: KeptFile
  readonly #index: KeptFile
  #known: Known | undefined
  /** 0 until something has been written to the log. */
  #pageBytes = 0
  // Used again each time: this is read after each commit.
  readonly #counted = Buffer.alloc(indexBytes)
  #end: Buffer = Buffer.alloc(0)

  constructor(log: string, index: string) {
    this.#log = new KeptFile(log)
    this.#index = new KeptFile(index)
  }

  /** Whether the log has not grown and its end is still there, which most commits leave so. Does not ask for the log's times. */
  endsAsBefore(): boolean {
    const known = this.#known
    if (known === undefined || known.lastAt === 0) return false
    const hasGrown = this.#index.readInto(this.#counted, 0) < indexBytes || this.#countedEnd() > known.size
    if (hasGrown || this.#log.readInto(this.#end, known.lastAt) < known.size - known.lastAt) return false
    return known.last.compare(this.#end, 0, frameHeaderBytes) === 0
  }

  /** False if something was lost. `found` is the current state of the log. */
  check(found: Stats): boolean {
    const known = this.#known
    if (known !== undefined && known.mtimeMs === found.mtimeMs && known.size === found.size) return true
    const isSuspect = known !== undefined && (found.size < known.size || !this.#frameAt(known.lastAt).equals(known.last))
    const isWhole = isSuspect ? this.#isWhole() : true
    if (isWhole !== undefined) this.#remember(found, isSuspect)
    return isWhole !== false
  }

  /**
   * Whether `holds` is true of the database at a time when the whole log has been copied into it. If a reader is in the way, a
   * checkpoint leaves out pages that changed after that reader's snapshot: the header can then count pages that are not in the
   * database yet.
   */
  isAllCopied(holds: () => boolean): boolean {
    const before = this.#index.read(0, indexBytes)
    if (!this.#hasCopied(before) || !holds()) return false
    // The salts change each time the log restarts, so equal indexes mean that nothing was copied in between.
    return this.#hasCopied(before) && before.equals(this.#index.read(0, indexBytes))
  }

  /** Whether all frames counted by this index were copied, or none since the log began anew, for which all had to be copied. */
  #hasCopied(index: Buffer): boolean {
    if (index.length < indexBytes) return false
    const [begun, done] = [this.#index.read(copyBegunAt, 4), this.#index.read(copyDoneAt, 4)]
    return begun.equals(done) && (done.equals(index.subarray(frameCountAt, frameCountAt + 4)) || done.equals(noFrames))
  }

  #remember({ mtimeMs, size }: Stats, isOther: boolean): void {
    const lastAt = this.#lastFrameOf(size)
    const last = isOther || lastAt !== this.#known?.lastAt ? this.#frameAt(lastAt) : this.#known.last
    this.#known = { mtimeMs, size, lastAt, last }
    if (this.#end.length !== size - lastAt) this.#end = Buffer.alloc(size - lastAt)
  }

  /** Undefined if other programs write so much that no check could be completed. */
  #isWhole(): boolean | undefined {
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const index = this.#index.read(0, indexBytes)
      const frames = index.length < indexBytes ? 0 : frameCountOf(index)
      const soundBytes = this.#soundBytes(frames, saltOf(index, indexSaltAt))
      if (soundBytes === undefined) return true
      // Frames are written before the index counts them, and overwritten only after the index was restarted.
      if (!index.equals(this.#index.read(0, indexBytes))) continue
      this.#log.cut(soundBytes)
      return false
    }
    return undefined
  }

  /** Number of intact bytes at the start of the log; undefined if all frames counted by the index are intact. */
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

  /** Where the frames end that the index counted when it was last read. */
  #countedEnd(): number {
    return logHeaderBytes + frameCountOf(this.#counted) * this.#frameBytes()
  }

  #frameAt(at: number): Buffer {
    return this.#log.read(at, frameHeaderBytes)
  }

  /** Offset of the last frame in a log of this size. */
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

/** The state of the log at the last check. */
interface Known {
  readonly mtimeMs: number
  readonly size: number
  readonly lastAt: number
  readonly last: Buffer
}

/** Maximum number of attempts while other programs write to the log. */
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

/** 0 if nothing has been written to the log yet. */
function pageBytesOf(header: Buffer): number {
  return header.length < logHeaderBytes ? 0 : header.readUInt32BE(logPageSizeAt)
}

/** The index is memory shared by programs on one machine, with numbers in that machine's byte order. */
const noFrames = Buffer.alloc(4)

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

function frameCountOf(index: Buffer): number {
  return isLittleEndian ? index.readUInt32LE(frameCountAt) : index.readUInt32BE(frameCountAt)
}

/** A file that is read repeatedly. It is opened on first use. */
class KeptFile {
  readonly #path: string
  #descriptor: number | undefined

  constructor(path: string) {
    this.#path = path
  }

  get size(): number {
    return fstatSync(this.#open()).size
  }

  /** Returns fewer bytes if the file is shorter. */
  read(at: number, bytes: number): Buffer {
    const found = Buffer.allocUnsafe(bytes)
    return found.subarray(0, this.readInto(found, at))
  }

  /** Returns the number of bytes read. */
  readInto(buffer: Buffer, at: number): number {
    return readSync(this.#open(), buffer, 0, buffer.length, at)
  }

  /** Removes everything after `bytes`, so that copying the damaged log fails and does no harm. */
  cut(bytes: number): void {
    try {
      truncateSync(this.#path, bytes)
    } catch {
      // The file is not writable, so this program did not write to it either.
    }
  }

  #open(): number {
    this.#descriptor ??= keptDescriptor(this.#path)
    return this.#descriptor
  }
}

/**
 * One descriptor per path, kept open until another file takes that name: on POSIX systems, closing any descriptor of the index
 * releases all locks that the process holds on it, including SQLite's.
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
