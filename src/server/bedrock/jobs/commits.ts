import type { Clock } from '../../../core/time/clock.ts'

/**
 * How many changes there were. Clients send back the last count that they saw, to be sure that a server is no further behind:
 * so it goes on rising over restarts. Every server of a queue sees all changes at once, and nobody ever waits for one.
 */
export class Commits {
  #count: number

  constructor(clock: Clock) {
    this.#count = clock.now() * 1_000
  }

  get count(): number {
    return this.#count
  }

  add(): void {
    this.#count++
  }
}
