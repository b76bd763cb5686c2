import type { Watch } from '../contract.ts'
import { Watchers } from '../watchers.ts'
import { LateWakes } from './late-wakes.ts'
import type { SqlSession } from './session.ts'

/** Tells workers that there may be work for them. */
export interface Waker extends AsyncDisposable {
  /** After something may have become ready. It costs the caller nothing, and nobody waits for it. */
  wake(): void
  /** In a transaction that somebody else ends: after its commit something may have become ready. */
  wakeAtCommit(session: SqlSession): Promise<void>
  watch(wake: () => void): Watch
}

/** Wakes the workers of this program. Those of others find work when they look. */
export class LocalWaker implements Waker {
  readonly #watchers = new Watchers()
  readonly #lateWakes = new LateWakes(() => this.wake())

  wake(): void {
    this.#watchers.notify()
  }

  /** Nobody tells when that is, so those who wait look a few times, at longer and longer distances. */
  async wakeAtCommit(): Promise<void> {
    this.#lateWakes.begin()
  }

  watch(wake: () => void): Watch {
    return { ...this.#watchers.watch(wake), isPush: false }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#lateWakes.end()
    this.#watchers.close()
  }
}
