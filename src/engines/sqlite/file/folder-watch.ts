import { type Stats, statSync } from 'node:fs'
import { stopwatch, systemClock } from '../../../core/time/clock.ts'

/**
 * Says when the files in a folder need not be looked up by name: while nothing in it was created, deleted or renamed, each name
 * refers to the same file as before. One look at the folder is cheaper than one at each file, and leaves the times of the files
 * alone: since Linux 6.13, the next write to a file whose time was asked for gives it a new one, which `fsync` has to store too.
 */
export class FolderWatch {
  readonly #path: string
  #known: Stats | undefined
  #found: Stats | undefined
  #lookedAt = 0
  #sinceKnown: () => number = stopwatch()

  constructor(path: string) {
    this.#path = path
  }

  /** Whether each name in it refers to the file that it referred to when `passed` was last called. */
  isUnchanged(): boolean {
    this.#lookedAt = systemClock.now()
    this.#found = look(this.#path)
    const isUnchanged = this.#found !== undefined && isSame(this.#found, this.#known) && !this.#isOld
    if (!isUnchanged) this.#known = undefined
    return isUnchanged
  }

  /** The names were looked up since `isUnchanged` was called, and are as they should be. */
  passed(): void {
    // What changes later in the same tick of its clock would not be seen.
    if (this.#found === undefined || !hasSettled(this.#found, this.#lookedAt)) return
    this.#known = this.#found
    this.#sinceKnown = stopwatch()
  }

  /** Some network file systems change the times of a folder late. */
  get #isOld(): boolean {
    return this.#sinceKnown() > longestMs
  }
}

const longestMs = 1_000
/** Longer than any file system's clock stands still, and for those that count whole seconds. */
const tickMs = 100
const coarseTickMs = 3_000

function hasSettled({ ctimeMs }: Stats, lookedAt: number): boolean {
  return lookedAt - ctimeMs > (Number.isInteger(ctimeMs / 1_000) ? coarseTickMs : tickMs)
}

function isSame(found: Stats, known: Stats | undefined): boolean {
  return found.ctimeMs === known?.ctimeMs && found.ino === known.ino && found.dev === known.dev
}

function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
