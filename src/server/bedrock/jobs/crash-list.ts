import { glob } from '../../jobs/glob.ts'

const mostPatterns = 1_000

/** Names of jobs that crash their workers. Such jobs are failed instead of being handed out, for as long as this server runs. */
export class CrashList {
  #patterns = new Map<string, (name: string) => boolean>()

  add(patterns: readonly string[]): void {
    for (const pattern of patterns) if (this.#patterns.size < mostPatterns) this.#patterns.set(pattern, glob(pattern))
  }

  clear(): void {
    this.#patterns = new Map()
  }

  has(name: string): boolean {
    for (const matches of this.#patterns.values()) if (matches(name)) return true
    return false
  }
}
