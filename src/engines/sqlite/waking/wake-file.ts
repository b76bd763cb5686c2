import { closeSync, constants, type FSWatcher, openSync, watch, writeSync } from 'node:fs'
import type { Watch } from '../../../queue/contract/contract.ts'

/**
 * Tells other processes on the same database that there may be work: a file beside it is written to after a commit, and idle
 * processes watch it. If the system cannot watch files, polling finds the work a little later.
 */
export class WakeFile {
  readonly #path: string
  #file: number | undefined
  readonly #listeners = new Set<() => void>()
  #watcher: FSWatcher | undefined

  constructor(path: string) {
    this.#path = path
    this.#file = openOrNothing(path)
  }

  /** Whether anything in this process is listening. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  /** Wakes listeners in this process directly, and those in other processes through the file. */
  touch(): void {
    this.wakeHere()
    this.wakeOthers()
  }

  wakeHere(): void {
    for (const wake of this.#listeners) wake()
  }

  wakeOthers(): void {
    if (this.#file === undefined) return
    try {
      writeSync(this.#file, mark, 0, 1, 0)
    } catch {
      // A full disk must not fail a send that has already been committed.
    }
  }

  listen(wake: () => void): Watch {
    // A separate entry for each call, because the same function may listen twice.
    const entry = () => wake()
    this.#listeners.add(entry)
    this.#watcher ??= this.#watch()
    return {
      isPush: this.#watcher !== undefined,
      close: () => {
        this.#listeners.delete(entry)
        if (this.#listeners.size > 0) return
        this.#watcher?.close()
        this.#watcher = undefined
      },
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#watcher?.close()
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  #watch(): FSWatcher | undefined {
    try {
      const watcher = watch(this.#path, { persistent: false }, () => this.wakeHere())
      watcher.on('error', () => watcher.close())
      return watcher
    } catch {
      return undefined
    }
  }
}

const mark = Buffer.from('.')

function openOrNothing(path: string): number | undefined {
  try {
    // Not opened for appending: the same byte is overwritten each time. A link could lead to a file whose contents matter.
    return openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600)
  } catch {
    return undefined
  }
}
