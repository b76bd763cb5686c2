import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { Batcher } from '../../../core/batcher.ts'
import { messageOf, TreadleError } from '../../../core/errors.ts'

const syncFile = promisify(fdatasync)

/**
 * Syncs commits that were made without waiting for the disk, while the program continues. Commits are in SQLite's log until they
 * are copied into the database, which SQLite syncs itself. One sync serves all callers that arrived before it began.
 */
export class LogSync {
  readonly #database: string
  readonly #emptyLog: () => Promise<boolean>
  readonly #syncs: Batcher<void, void>
  #file: number | undefined
  #isClosed = false

  /** `emptyLog` makes SQLite copy the log into the database and sync it; false if it cannot. */
  constructor(database: string, emptyLog: () => Promise<boolean>) {
    this.#database = database
    this.#emptyLog = emptyLog
    // A caller that arrives during a sync may have committed too late for it, and waits for the next one.
    this.#syncs = new Batcher(async () => {
      await this.#sync()
      return []
    }, Number.POSITIVE_INFINITY)
  }

  /** When this resolves, everything committed so far, by any process, is on disk. */
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
      // The system reports a failed write only once: later syncs of the same log would only seem to succeed.
      if (await this.#emptyLog().catch(() => false)) return
      const message = `${this.#database} cannot be brought to disk (${messageOf(cause)}). What was sent is stored, but may not outlive a loss of power. Free space on its disk, or check that the disk works.`
      throw new TreadleError('DATABASE_UNWRITABLE', message, { cause })
    }
  }
}
