import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { Batcher } from '../../core/batcher.ts'
import { messageOf, TreadleError } from '../../core/errors.ts'

const syncFile = promisify(fdatasync)

/**
 * Brings to disk what was committed without that, while the program goes on: SQLite's log, where all commits are until they are
 * copied into the database, which it syncs by itself. One sync serves all who ask for it meanwhile.
 */
export class LogSync {
  readonly #database: string
  readonly #syncs: Batcher<void, void>
  #file: number | undefined

  constructor(database: string) {
    this.#database = database
    // Who comes while a sync is under way may have committed too late for it, and waits for the next one.
    this.#syncs = new Batcher(() => this.#sync(), Number.POSITIVE_INFINITY)
  }

  /** All that was committed so far, by whichever process, is on disk when this resolves. */
  sync(): Promise<void> {
    return this.#syncs.add()
  }

  async close(): Promise<void> {
    await this.#syncs.idle()
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  async #sync(): Promise<readonly void[]> {
    try {
      this.#file ??= openSync(`${this.#database}-wal`, 'r+')
      await syncFile(this.#file)
      return []
    } catch (cause) {
      const message = `${this.#database} can not be brought to disk (${messageOf(cause)}). Free space there, or check that the disk works.`
      throw new TreadleError('DATABASE_UNWRITABLE', message, { cause })
    }
  }
}
