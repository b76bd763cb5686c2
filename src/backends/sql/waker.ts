import type { Watch } from '../contract.ts'
import { Watchers } from '../watchers.ts'

/** Tells workers that there may be work for them. */
export interface Waker extends AsyncDisposable {
  /** After something may have become ready. It costs the caller nothing, and nobody waits for it. */
  wake(): void
  watch(wake: () => void): Watch
}

/** Wakes the workers of this program. Those of others find work when they look. */
export class LocalWaker implements Waker {
  readonly #watchers = new Watchers()

  wake(): void {
    this.#watchers.notify()
  }

  watch(wake: () => void): Watch {
    return { ...this.#watchers.watch(wake), isPush: false }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watchers.close()
  }
}
