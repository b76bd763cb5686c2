import { realpath, stat } from 'node:fs/promises'

/**
 * Detects whether a file has changed since the first check: modified, replaced, created, removed, or a link to another target.
 */
export class VersionFile {
  readonly #path: string
  #first: string | undefined

  constructor(path: string) {
    this.#path = path
  }

  async hasChanged(): Promise<boolean> {
    const now = await marksOf(this.#path)
    this.#first ??= now
    return now !== this.#first
  }
}

async function marksOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(path)
    return [await realpath(path), ino, size, mtimeMs].join(' ')
  } catch {
    return 'none'
  }
}
