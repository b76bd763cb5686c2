/** A map that loads unknown keys on access and remembers the values as loaded. */
export class LoadedMap<Key, Value> extends Map<Key, Value> {
  readonly #load: (key: Key) => Value | undefined
  readonly #loaded = new Map<Key, Value | undefined>()

  constructor(load: (key: Key) => Value | undefined) {
    super()
    this.#load = load
  }

  override get(key: Key): Value | undefined {
    if (!this.isKnown(key)) {
      const value = this.#load(key)
      this.#loaded.set(key, value)
      // Loading may already have added it.
      if (value !== undefined && !super.has(key)) super.set(key, value)
    }
    return super.get(key)
  }

  /** Whether it was loaded or set. */
  isKnown(key: Key): boolean {
    return this.#loaded.has(key) || super.has(key)
  }

  override has(key: Key): boolean {
    return this.get(key) !== undefined
  }

  override delete(key: Key): boolean {
    const value = this.get(key)
    if (!this.#loaded.has(key)) this.#loaded.set(key, value)
    return super.delete(key)
  }

  /** The entries that were set or deleted. */
  changes(): readonly (readonly [key: Key, before: Value | undefined, after: Value | undefined])[] {
    const keys = new Set([...this.#loaded.keys(), ...this.keys()])
    return [...keys]
      .map((key) => [key, this.#loaded.get(key), super.get(key)] as const)
      .filter(([, before, after]) => before !== after)
  }
}
