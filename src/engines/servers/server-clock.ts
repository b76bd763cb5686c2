import type { Logger } from '../../core/logger.ts'
import { monotonicMs } from '../../core/process/process-time.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { QueueTime } from './queue-time.ts'

/** How long a measurement is used before the server is asked again. */
const freshMs = 10_000
/** A measurement that may be off by more than this is used for a shorter time: leases of others would seem to be over too early. */
const roughMs = 100
const roughFreshMs = 2_000
/** If the clock differs from the elapsed time by more than this, it was set, or the machine slept. */
const jumpMs = 1_000
/** A difference larger than this is logged. */
const noticeableMs = 1_000
/** Maximum number of questions per measurement; one answer within `quickMs` is enough. */
const mostQuestions = 3
const quickMs = 20

/** What the server said: its time at a given moment, and the maximum error of that. */
interface Measurement {
  readonly serverMs: number
  readonly atMs: number
  readonly errorMs: number
}

export interface ServerClockOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Reads the server's clock. */
  readonly ask: () => Promise<number>
  /** Counts the time that has passed. Default: the counter of the machine. */
  readonly elapsedMs?: () => number
}

/**
 * The server's clock as this program knows it: what the server last said, plus the time elapsed since then by a monotonic
 * counter. So it does not matter what the program's own clock says, or whether it is set while the program runs.
 */
export class ServerClock implements QueueTime {
  readonly #options: ServerClockOptions
  readonly #elapsedMs: () => number
  #last: Measurement | undefined
  /** When the server was last asked, by the counter and by the program's clock. */
  #asked = { atMs: 0, now: 0 }
  #asking: Promise<void> | undefined
  #latest = 0
  #isInDoubt = false
  #isTold = false

  constructor(options: ServerClockOptions) {
    this.#options = options
    this.#elapsedMs = options.elapsedMs ?? monotonicMs
  }

  now(): number {
    const { serverMs, atMs } = this.#last ?? { serverMs: this.#options.clock.now(), atMs: this.#elapsedMs() }
    const now = Math.floor(serverMs + this.#elapsedMs() - atMs)
    // A merely better measurement must not make an event appear to happen before the one it follows.
    this.#latest = this.#latest > now && this.#latest - now < jumpMs ? this.#latest : now
    return this.#latest
  }

  stated(): null {
    return null
  }

  toLocal(at: number): number {
    return at + this.#options.clock.now() - this.now()
  }

  dueAt(runAt: number): number {
    return runAt <= this.#options.clock.now() ? Math.min(runAt, this.now()) : runAt
  }

  /** Call this before each call. It measures again from time to time. If it returns a promise, the time is in doubt: await it. */
  check(): Promise<void> | undefined {
    const passedMs = this.#elapsedMs() - this.#asked.atMs
    const hasJumped = Math.abs(this.#options.clock.now() - this.#asked.now - passedMs) > jumpMs
    if (hasJumped || this.#isInDoubt) return this.measure().catch(() => {})
    const isRough = (this.#last?.errorMs ?? 0) > roughMs
    if (passedMs > (isRough ? roughFreshMs : freshMs)) void this.measure().catch(() => {})
    return undefined
  }

  /** The next connection may lead to a different server. */
  lost(): void {
    this.#isInDoubt = true
  }

  /** Resolves when no measurement is in progress. */
  async settled(): Promise<void> {
    await this.#asking?.catch(() => {})
  }

  measure(): Promise<void> {
    this.#asking ??= this.#measure().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #measure(): Promise<void> {
    const asked = { atMs: this.#elapsedMs(), now: this.#options.clock.now() }
    let best: Measurement | undefined
    for (let question = 0; question < mostQuestions && (best?.errorMs ?? quickMs) >= quickMs / 2; question++) {
      const before = this.#elapsedMs()
      const serverMs = await this.#options.ask()
      const tookMs = this.#elapsedMs() - before
      const found = { serverMs, atMs: before + tookMs / 2, errorMs: tookMs / 2 }
      if (best === undefined || found.errorMs < best.errorMs) best = found
    }
    if (best === undefined) return
    this.#asked = asked
    this.#isInDoubt = false
    this.#heard(best)
    this.#tell(best)
  }

  /** Keeps a more precise earlier measurement if a slower answer agrees with it. */
  #heard(found: Measurement): void {
    const last = this.#last
    const isSame = last !== undefined && agree(found, last)
    if (!isSame || found.errorMs <= 2 * last.errorMs) this.#last = found
  }

  #tell({ serverMs, atMs, errorMs }: Measurement): void {
    const { clock, logger } = this.#options
    const aheadMs = Math.round(serverMs + this.#elapsedMs() - atMs - clock.now())
    const isOff = Math.abs(aheadMs) > noticeableMs + errorMs
    if (isOff && !this.#isTold) logger.warn(skewText(aheadMs))
    this.#isTold = isOff
  }
}

/** Both may be wrong, and in opposite directions. */
function agree(one: Measurement, other: Measurement): boolean {
  const differMs = one.serverMs - other.serverMs - (one.atMs - other.atMs)
  return Math.abs(differMs) <= one.errorMs + other.errorMs
}

/** `aheadMs`: how far the server's clock is ahead. */
function skewText(aheadMs: number): string {
  const offset = `${Math.abs(aheadMs)} ms ${aheadMs > 0 ? 'behind' : 'ahead of'}`
  return `the clock of this machine is ${offset} the database's. The queue goes by the database's clock, but instants that this program computes are off by as much: set the clock, and keep it in step (NTP)`
}

/** For a clock that is set by hand: the queue uses it too. */
export function handTime(clock: Clock): QueueTime {
  return {
    now: () => clock.now(),
    stated: () => clock.now(),
    toLocal: (at) => at,
    dueAt: (runAt) => runAt,
  }
}
