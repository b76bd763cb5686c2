import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { join, relative } from 'node:path'
import { systemClock, type Timer } from '../../core/time/clock.ts'

/** The source files of a program. Excludes databases, logs and other files written while it runs. */
const source = /(?:\.[mc]?[jt]sx?|\.json|^\.env(?:\..*)?)$/
const left = /^\.|^node_modules$|^coverage$/
const mostFolders = 2_000
/** How long to wait for further changes: editors and compilers write several files, each in several steps. */
const gatherMs = 150

/** Watches the source files of a folder and its subfolders. */
export class FileChanges {
  readonly #folder: string
  readonly #watchers = new Map<string, FSWatcher>()
  #changed: string | null = null
  #timer: Timer | undefined
  #waiter: ((file: string) => void) | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#look()
  }

  /** The next file that has changed since the last call; null if the signal is aborted. */
  async next(signal: AbortSignal): Promise<string | null> {
    if (signal.aborted) return null
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { once: true })
      this.#waiter = resolve
      this.#tell()
    })
  }

  close(): void {
    this.#timer?.cancel()
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  /** Also watches folders created since the last call. */
  #look(): void {
    const folders = foldersIn(this.#folder)
    for (const folder of folders) {
      if (this.#watchers.has(folder)) continue
      const watcher = watch(folder, (_, name) => this.#notice(folder, name))
      // The folder was deleted.
      watcher.on('error', () => {
        watcher.close()
        this.#watchers.delete(folder)
      })
      this.#watchers.set(folder, watcher)
    }
  }

  #notice(folder: string, name: string | null): void {
    if (name === null || (!source.test(name) && /\./.test(name))) return
    // A name without a dot may be a new folder.
    if (!source.test(name)) this.#look()
    else {
      this.#changed = relative(this.#folder, join(folder, name))
      this.#timer?.cancel()
      this.#timer = systemClock.timer(gatherMs, () => {
        this.#timer = undefined
        this.#look()
        this.#tell()
      })
    }
  }

  /** Reports the change once no more changes follow and a caller is waiting. */
  #tell(): void {
    const [file, waiter] = [this.#changed, this.#waiter]
    if (file === null || waiter === undefined || this.#timer !== undefined) return
    this.#changed = null
    this.#waiter = undefined
    waiter(file)
  }
}

function foldersIn(root: string): readonly string[] {
  const found = [root]
  for (let at = 0; at < found.length && found.length < mostFolders; at++) {
    const folder = found[at] as string
    for (const entry of entriesOf(folder)) if (entry.isDirectory() && !left.test(entry.name)) found.push(join(folder, entry.name))
  }
  return found
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
