import type { Answer } from '../../../core/answer.ts'
import { Watchers } from '../../../queue/backend/watchers.ts'
import type { Watch } from '../../../queue/contract/contract.ts'
import type { SqlSession } from '../session.ts'
import { LateWakes } from './late-wakes.ts'

/**
 * A notification to other programs. A transaction that stores something may send it in the same statement: it is delivered on
 * commit.
 */
export class Word {
  readonly channel: string
  readonly text: string
  isSaid = false

  constructor(channel: string, text: string) {
    this.channel = channel
    this.text = text
  }
}

/** Tells workers that there may be work for them. */
export interface Waker extends AsyncDisposable {
  /** Call this before storing something. Null if other programs cannot be notified, or are better notified by `wake`. */
  word(): Word | null
  /**
   * Call this after something may have become ready. It costs the caller nothing and does not wait. A notification that was
   * already sent is not sent again.
   */
  wake(word?: Word | null): void
  /** For a transaction that the caller ends: something may become ready when it commits. */
  wakeAtCommit(session: SqlSession): Answer<void>
  watch(wake: () => void): Watch
}

/** Wakes the workers of this program. Those of other programs find work when they poll. */
export class LocalWaker implements Waker {
  readonly #watchers = new Watchers()
  readonly #lateWakes = new LateWakes(() => this.wake())

  word(): null {
    return null
  }

  wake(): void {
    this.#watchers.notify()
  }

  /** There is no signal for the commit, so waiting workers look a few times, at increasing intervals. */
  wakeAtCommit(): void {
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
