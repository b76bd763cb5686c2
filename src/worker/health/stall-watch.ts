import { type Clock, stopwatchOf, type Timer } from '../../core/time/clock.ts'
import type { ActiveRun } from '../../execution/attempt/active-run.ts'
import { type EndedRun, suspectsOf } from './stall-suspects.ts'

export interface StallWatchOptions {
  readonly clock: Clock
  readonly leaseMs: number
  /** A standstill of more than this is told. */
  readonly stallMs: number
  readonly running: () => readonly ActiveRun[]
  /** Whether there are still leases, so that the watch must go on. */
  readonly isHolding: () => boolean
  /** The event loop turns while leases are held. */
  readonly onLive: () => void
  readonly onRest: () => void
  readonly onStall: (stall: Stall) => void
}

export interface Stall {
  readonly stalledMs: number
  readonly running: readonly ActiveRun[]
  /** Those that ran or ended in it. Where the process computed, they may have caused it, and one alone is to blame. */
  readonly suspects: readonly ActiveRun[]
  /** How much this process computed meanwhile; undefined where that is not known. */
  readonly computedMs: number | undefined
}

/** A handler that computes takes the time that it blocks. Whoever was stopped takes none, and who waits for a file hardly any. */
export function hasComputed({ stalledMs, computedMs }: Stall): boolean {
  return computedMs === undefined || computedMs >= stalledMs * leastComputed
}

/** Of a standstill, also on a machine that is so busy that a program gets a fraction of its time. */
const leastComputed = 0.1

const longestTurnMs = 250
/** Of the event loop's signs of life in a lease's time: so many that one missed is not a standstill. */
const turnsPerLease = 12
const turnsPerStall = 4
/** A run that took less of a standstill than this is not worth remembering: most are short, and there are very many of them. */
const leastShare = 0.1

/** Looks several times a second whether the event loop turns, for as long as the worker holds leases. */
export class StallWatch {
  readonly #options: StallWatchOptions
  readonly #turnMs: number
  #timer: Timer | undefined
  #ended: EndedRun<ActiveRun>[] = []
  /** By a stopwatch: a clock that was set is no standstill. */
  #sinceTurnMs: () => number
  #longestLagMs = 0
  /** As the clock said when the event loop turned last. */
  #computedMs: number | undefined
  #stopped = false

  constructor(options: StallWatchOptions) {
    this.#options = options
    this.#sinceTurnMs = stopwatchOf(options.clock)
    this.#turnMs = Math.floor(Math.min(longestTurnMs, options.leaseMs / turnsPerLease, options.stallMs / turnsPerStall))
  }

  /** Leases have come. */
  watch(): void {
    this.#options.onLive()
    if (this.#timer === undefined && !this.#stopped) this.#wait()
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  ended(run: ActiveRun, durationMs: number): void {
    if (durationMs < this.#options.stallMs * leastShare) return
    this.#ended.push({ run, durationMs, beganBefore: durationMs > this.#sinceTurnMs() })
  }

  /** The longest time that the event loop came late since this was last asked. */
  takeLagMs(): number {
    const lagMs = this.#longestLagMs
    this.#longestLagMs = 0
    return lagMs
  }

  #wait(): void {
    const { clock } = this.#options
    const sinceTurnMs = stopwatchOf(clock)
    this.#sinceTurnMs = sinceTurnMs
    this.#computedMs = clock.computed?.()
    this.#timer = clock.timer(this.#turnMs, () => this.#turn(Math.round(sinceTurnMs() - this.#turnMs)), { unref: true })
  }

  #turn(lateMs: number): void {
    const { stallMs, isHolding, onLive, onRest } = this.#options
    this.#timer = undefined
    this.#longestLagMs = Math.max(this.#longestLagMs, lateMs)
    if (lateMs > stallMs) this.#stalled(lateMs)
    if (this.#ended.length > 0) this.#ended = []
    if (isHolding()) {
      onLive()
      this.#wait()
    } else {
      onRest()
    }
  }

  #stalled(stalledMs: number): void {
    const { clock, running: runningNow, onStall } = this.#options
    const running = runningNow()
    const suspects = suspectsOf(stalledMs, running, this.#ended)
    const computedMs = this.#computedMs === undefined ? undefined : (clock.computed?.() ?? 0) - this.#computedMs
    if (suspects.length > 0) onStall({ stalledMs, running, suspects, computedMs })
  }
}
