import type { Answer } from '../../../core/answer.ts'
import { Watchers } from '../../../queue/claiming/watchers.ts'
import type { Watch } from '../../../queue/contract/contract.ts'
import type { SqlSession } from '../session.ts'
import { LateWakes } from './late-wakes.ts'

/** What other programs are told. Whoever stores something may say it in the same statement: it is heard when that is committed. */
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
  /** Before something is stored; null where other programs cannot be told, or are better told by `wake`. */
  word(): Word | null
  /** After something may have become ready. It costs the caller nothing, and nobody waits for it. A word that is said is not said again. */
  wake(word?: Word | null): void
  /** In a transaction that somebody else ends: after its commit something may have become ready. */
  wakeAtCommit(session: SqlSession): Answer<void>
  watch(wake: () => void): Watch
}

/** Wakes the workers of this program. Those of others find work when they look. */
export class LocalWaker implements Waker {
  readonly #watchers = new Watchers()
  readonly #lateWakes = new LateWakes(() => this.wake())

  word(): null {
    return null
  }

  wake(): void {
    this.#watchers.notify()
  }

  /** Nobody tells when that is, so those who wait look a few times, at longer and longer distances. */
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
