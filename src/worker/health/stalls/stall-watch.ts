import { type Clock, stopwatchOf, type Timer } from '../../../core/time/clock.ts'
import type { ActiveRun } from '../../../execution/attempt/active-run.ts'
import { type EndedRun, suspectsOf } from './stall-suspects.ts'

export interface StallWatchOptions {
  readonly clock: Clock
  readonly leaseMs: number
  /** Longer stalls are reported. */
  readonly stallMs: number
  readonly running: () => readonly ActiveRun[]
  /** Whether leases are still held, so that the watch must continue. */
  readonly isHolding: () => boolean
  /** Called on each turn of the event loop while leases are held. */
  readonly onLive: () => void
  readonly onRest: () => void
  readonly onStall: (stall: Stall) => void
}

export interface Stall {
  readonly stalledMs: number
  readonly running: readonly ActiveRun[]
  /**
   * The runs that were active or ended during the stall. If the process was computing, they may have caused it; a single one is
   * the cause.
   */
  readonly suspects: readonly ActiveRun[]
  /** CPU time that this process used during the stall; undefined if unknown. */
  readonly computedMs: number | undefined
}

/**
 * A computing handler uses CPU time for as long as it blocks. A process that was stopped uses none, and one waiting for a file
 * hardly any.
 */
export function hasComputed({ stalledMs, computedMs }: Stall): boolean {
  return computedMs === undefined || computedMs >= stalledMs * leastComputed
}

/**
 * Minimum CPU share of a stall that counts as computing. Low, because on a busy machine a process gets only a fraction of the
 * time.
 */
const leastComputed = 0.1

const longestTurnMs = 250
/** Number of checks per lease duration: enough that a single late one is not a stall. */
const turnsPerLease = 12
const turnsPerStall = 4
/** Shorter runs, as a share of the stall threshold, are not remembered: most runs are short, and there are very many of them. */
const leastShare = 0.1

/** Checks several times a second whether the event loop is running, as long as the worker holds leases. */
export class StallWatch {
  readonly #options: StallWatchOptions
  readonly #turnMs: number
  #timer: Timer | undefined
  #ended: EndedRun<ActiveRun>[] = []
  /** Uses a stopwatch, because a change of the system clock is not a stall. */
  #sinceTurnMs: () => number
  #longestLagMs = 0
  /** CPU time at the last turn of the event loop. */
  #computedMs: number | undefined
  #stopped = false

  constructor(options: StallWatchOptions) {
    this.#options = options
    this.#sinceTurnMs = stopwatchOf(options.clock)
    this.#turnMs = Math.floor(Math.min(longestTurnMs, options.leaseMs / turnsPerLease, options.stallMs / turnsPerStall))
  }

  /** Called when the worker gets leases. */
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

  /** The maximum lag of the event loop since the last call. */
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
