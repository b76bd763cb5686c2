import { realpath, stat } from 'node:fs/promises'

/** Tells whether a file is another one than at the first look: written to, replaced, made, removed, or reached by another link. */
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
