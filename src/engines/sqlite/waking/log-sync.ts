import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { Batcher } from '../../../core/batcher.ts'
import { messageOf, TreadleError } from '../../../core/errors.ts'

const syncFile = promisify(fdatasync)

/**
 * Brings to disk what was committed without that, while the program goes on: SQLite's log, where all commits are until they are
 * copied into the database, which it syncs by itself. One sync serves all who ask for it meanwhile.
 */
export class LogSync {
  readonly #database: string
  readonly #emptyLog: () => Promise<boolean>
  readonly #syncs: Batcher<void, void>
  #file: number | undefined
  #isClosed = false

  /** `emptyLog` has SQLite copy the log, and sync that: false where it cannot. */
  constructor(database: string, emptyLog: () => Promise<boolean>) {
    this.#database = database
    this.#emptyLog = emptyLog
    // Who comes while a sync is under way may have committed too late for it, and waits for the next one.
    this.#syncs = new Batcher(async () => {
      await this.#sync()
      return []
    }, Number.POSITIVE_INFINITY)
  }

  /** All that was committed so far, by whichever process, is on disk when this resolves. */
  sync(): Promise<void> {
    return this.#syncs.add()
  }

  async close(): Promise<void> {
    await this.#syncs.idle()
    this.#isClosed = true
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  async #sync(): Promise<void> {
    if (this.#isClosed) throw new TreadleError('BACKEND_CLOSED', `${this.#database} was closed. Open a new instance.`)
    try {
      this.#file ??= openSync(`${this.#database}-wal`, 'r+')
      await syncFile(this.#file)
    } catch (cause) {
      // A system that failed to write says so once, and later syncs of the same log would only seem to work.
      if (await this.#emptyLog().catch(() => false)) return
      const message = `${this.#database} cannot be brought to disk (${messageOf(cause)}). What was sent is stored, but may not outlive a loss of power. Free space on its disk, or check that the disk works.`
      throw new TreadleError('DATABASE_UNWRITABLE', message, { cause })
    }
  }
}
