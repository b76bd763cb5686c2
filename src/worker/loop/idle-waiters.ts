import type { Clock } from '../../core/time/clock.ts'

/** Callers that wait until a worker is idle. */
export class IdleWaiters {
  readonly #clock: Clock
  readonly #isIdle: () => boolean
  #waiters: (() => void)[] = []
  #isOver = false

  constructor(clock: Clock, isIdle: () => boolean) {
    this.#clock = clock
    this.#isIdle = isIdle
  }

  /** Called when something has ended, which may have been the last. */
  notice(): void {
    if (this.#isIdle() || this.#isOver) for (const resolve of this.#waiters.splice(0)) resolve()
  }

  /** From now on, nobody waits. */
  end(): void {
    this.#isOver = true
    this.notice()
  }

  /** Resolves when the worker is idle, or after `longestMs`. */
  wait(longestMs: number): Promise<void> {
    if (this.#isIdle() || this.#isOver) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel()
        resolve()
      }
      const timer = this.#clock.timer(longestMs, end)
      this.#waiters.push(end)
    })
  }
}
