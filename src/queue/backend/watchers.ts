import type { Watch } from '../contract/contract.ts'

/** Wakes everything that waits for work. Wake-ups within one turn are merged, and never run inside the call that caused them. */
export class Watchers {
  readonly #wakes = new Set<() => void>()
  #pending = false

  watch(wake: () => void): Watch {
    // Wrapped, so that the same function can be registered twice and removed once.
    const entry = () => wake()
    this.#wakes.add(entry)
    return { isPush: true, close: () => void this.#wakes.delete(entry) }
  }

  get size(): number {
    return this.#wakes.size
  }

  notify(): void {
    if (this.#pending || this.#wakes.size === 0) return
    this.#pending = true
    queueMicrotask(() => {
      this.#pending = false
      for (const wake of [...this.#wakes]) wake()
    })
  }

  close(): void {
    this.#wakes.clear()
  }
}
