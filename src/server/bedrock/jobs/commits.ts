import type { Clock } from '../../../core/time/clock.ts'

/**
 * Counts changes. Clients send back the last count that they saw, to be sure that a server is not behind it, so the count keeps
 * rising across restarts. Every server of a queue sees all changes immediately, so no client ever has to wait.
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
