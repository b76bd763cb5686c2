import type { Watch } from '../contract/contract.ts'

/** Tells who waits for work. Wake-ups within one turn are one, and none is made inside the call that caused it. */
export class Watchers {
  readonly #wakes = new Set<() => void>()
  #pending = false

  watch(wake: () => void): Watch {
    // Wrapped, so that the same function can watch twice and stop once.
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
