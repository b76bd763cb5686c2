import { type FreshDatabase, freshDatabase, type SqlEngine } from '../services.ts'
import type { Block } from './blocks.ts'

/** The databases of servers that examples work in: one for each page and engine, made when the first example asks for it. */
export class PageDatabases implements AsyncDisposable {
  readonly #made = new Map<string, Promise<FreshDatabase>>()

  /** What an example finds in its environment. */
  async environmentOf({ page, settings: { database } }: Block): Promise<Readonly<Record<string, string>>> {
    if (database === undefined) return {}
    const name = `${page} ${database}`
    const made = this.#made.get(name) ?? freshDatabase(database as SqlEngine)
    this.#made.set(name, made)
    return { DATABASE_URL: (await made).url }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const made of this.#made.values()) {
      // One that could not be made is the problem of the examples that asked for it.
      const database = await made.catch(() => null)
      await database?.dispose()
    }
  }
}
