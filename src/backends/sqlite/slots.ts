import type { Lane } from './lanes.ts'

/** How many more jobs of each key one claim may start. */
export class Slots {
  readonly #limits: ReadonlyMap<string, number | null>
  readonly #alone: ReadonlySet<string>
  readonly #runningOf: (job: string) => number
  readonly #free = new Map<string, number>()

  constructor(limits: ReadonlyMap<string, number | null>, lanes: readonly Lane[], runningOf: (job: string) => number) {
    this.#limits = limits
    // One job that must run alone makes the whole key wait for its turn.
    this.#alone = new Set(lanes.filter(({ single }) => single === 1).map(({ job }) => job))
    this.#runningOf = runningOf
  }

  /** Keys with a limit are counted when they are asked for: a claim meets few of those that are ready. */
  free(job: string): number {
    const limit = this.#alone.has(job) ? 1 : (this.#limits.get(job) ?? null)
    if (limit === null) return Number.POSITIVE_INFINITY
    const free = this.#free.get(job) ?? limit - this.#runningOf(job)
    this.#free.set(job, free)
    return free
  }

  take(job: string): boolean {
    const free = this.free(job)
    if (free <= 0) return false
    this.#free.set(job, free - 1)
    return true
  }
}
