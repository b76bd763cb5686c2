import { nextAllowed } from '../worker/health/load/load.ts'

/** Number of jobs that may run before their effect on the load is known. */
const safeJobs = 10

export interface RoomOptions {
  readonly maxLoad: number
  readonly maxJobs: number
  readonly loadAverage: () => number
}

/**
 * How many more jobs may be started. A load average reacts slowly, so the number of jobs grows by one per second, and only while
 * the capacity is used. It shrinks by a fifth per second once the load is well above its limit.
 */
export class Room {
  readonly #options: RoomOptions
  readonly #least: number
  #target: number

  constructor(options: RoomOptions) {
    this.#options = options
    this.#least = Math.min(safeJobs, options.maxJobs)
    this.#target = this.#least
  }

  /** Returns 0 while the load is at or above its limit. */
  left(running: number): number {
    return this.#pressure < 1 ? Math.max(0, this.#target - running) : 0
  }

  /** Call this once a second. */
  adapt(running: number): void {
    const next = nextAllowed(this.#target, this.#pressure, this.#options.maxJobs)
    if (next < this.#target || running >= this.#target) this.#target = Math.max(this.#least, next)
  }

  get #pressure(): number {
    return this.#options.loadAverage() / this.#options.maxLoad
  }
}
