import { nextAllowed } from '../worker/health/load.ts'

/** So many jobs may run before it is known how they load the machine. */
const safeJobs = 10

export interface RoomOptions {
  readonly maxLoad: number
  readonly maxJobs: number
  readonly loadAverage: () => number
}

/**
 * How many more jobs may be begun. A load average follows slowly what is done, so the number of jobs grows by one a second and only
 * while the room is used, and falls by a fifth a second once the load is well above its limit.
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

  /** None while the load is not below its limit. */
  left(running: number): number {
    return this.#pressure < 1 ? Math.max(0, this.#target - running) : 0
  }

  /** To be called once a second. */
  adapt(running: number): void {
    const next = nextAllowed(this.#target, this.#pressure, this.#options.maxJobs)
    if (next < this.#target || running >= this.#target) this.#target = Math.max(this.#least, next)
  }

  get #pressure(): number {
    return this.#options.loadAverage() / this.#options.maxLoad
  }
}
