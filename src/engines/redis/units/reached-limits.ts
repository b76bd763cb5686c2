/**
 * Only the server knows whether a limit was reached that a finished run has made room under, and it wakes those waiting for it.
 */
export class ReachedLimits extends Set<string> {
  readonly #reached: Set<string>
  readonly #freed: Set<string>

  constructor(reached: Set<string>, freed: Set<string>) {
    super()
    this.#reached = reached
    this.#freed = freed
  }

  override add(scope: string): this {
    this.#reached.add(scope)
    return this
  }

  override delete(scope: string): boolean {
    this.#freed.add(scope)
    return false
  }
}
