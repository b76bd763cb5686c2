import type { Clock, Timer } from '../../../core/time/clock.ts'

const never = Number.POSITIVE_INFINITY

/**
 * A deadline that is moved far more often than it is reached. Moving it to a later time only stores the time; the running timer
 * checks it when it fires.
 */
export class LazyDeadline {
  readonly #clock: Clock
  readonly #onDue: () => void
  #dueAt = never
  #firesAt = never
  #timer: Timer | undefined

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock
    this.#onDue = onDue
  }

  /** Infinity means never. */
  set(dueAt: number): void {
    this.#dueAt = dueAt
    if (dueAt < this.#firesAt) this.#start()
  }

  cancel(): void {
    this.#dueAt = never
    this.#firesAt = never
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #start(): void {
    this.#timer?.cancel()
    this.#firesAt = this.#dueAt
    this.#timer = this.#clock.timer(this.#dueAt - this.#clock.now(), () => this.#fired(), { unref: true })
  }

  #fired(): void {
    this.#firesAt = never
    this.#timer = undefined
    if (this.#dueAt === never) return
    if (this.#clock.now() < this.#dueAt) this.#start()
    else {
      this.#dueAt = never
      this.#onDue()
    }
  }
}
