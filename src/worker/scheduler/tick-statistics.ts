/** How punctual a scheduler was. */
export interface TickSummary {
  readonly ticks: number
  /** Number of ticks that took longer than their interval. */
  readonly overruns: number
  /** Number of ticks that did not happen because the previous one took too long, the machine slept or its clock was set. */
  readonly missedTicks: number
  /** How often the clock was far from the expected time. */
  readonly clockJumps: number
  /** Duration of the longest tick. */
  readonly longestMs: number
  /** Maximum delay of a tick after its planned time, not counting clock jumps. */
  readonly latestMs: number
}

export const noTicks: TickSummary = { ticks: 0, overruns: 0, missedTicks: 0, clockJumps: 0, longestMs: 0, latestMs: 0 }

export interface TickTimes {
  /** When the tick was planned to happen. */
  readonly plannedAt: number
  readonly startedAt: number
  readonly endedAt: number
}

export class TickStatistics {
  readonly #intervalMs: number
  readonly #summary: { -readonly [Count in keyof TickSummary]: TickSummary[Count] } = { ...noTicks }
  #overrunsInARow = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  get overrunsInARow(): number {
    return this.#overrunsInARow
  }

  get summary(): TickSummary {
    return { ...this.#summary }
  }

  add({ plannedAt, startedAt, endedAt }: TickTimes): void {
    const lateMs = startedAt - plannedAt
    const tookMs = endedAt - startedAt
    const isOverrun = tookMs > this.#intervalMs
    const isJump = lateMs >= this.#intervalMs
    const summary = this.#summary
    summary.ticks++
    summary.overruns += Number(isOverrun)
    summary.missedTicks += this.#intervalsIn(lateMs) + this.#intervalsIn(tookMs)
    summary.clockJumps += Number(isJump)
    summary.longestMs = Math.max(summary.longestMs, tookMs)
    // If the machine slept, that is a jump. It says nothing about how late ticks are.
    if (!isJump) summary.latestMs = Math.max(summary.latestMs, lateMs)
    this.#overrunsInARow = isOverrun ? this.#overrunsInARow + 1 : 0
  }

  setBack(): void {
    this.#summary.clockJumps++
  }

  #intervalsIn(durationMs: number): number {
    return Math.max(0, Math.floor(durationMs / this.#intervalMs))
  }
}
