/** Maximum number of jobs to remember. */
const mostRemembered = 50_000

/**
 * The jobs that this program has ended, the latest ones. A crash between the two commands that replace a job by a changed copy
 * leaves both; when one of them has ended, the other must not run.
 */
export class EndedJobs {
  readonly #ids = new Set<string>()

  add(id: string): void {
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size > mostRemembered) this.#ids.delete(this.#ids.values().next().value as string)
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  /** For a job that is sent again: it is meant to run again. */
  forget(id: string): void {
    this.#ids.delete(id)
  }
}
