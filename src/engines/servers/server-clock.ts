import type { Logger } from '../../core/logger.ts'
import { monotonicMs } from '../../core/process/process-time.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { QueueTime } from './queue-time.ts'

/** After so long the server is asked again. */
const freshMs = 10_000
/** A clock that has moved so much otherwise than time has passed was set, or the machine slept. */
const jumpMs = 1_000
/** So large a difference is told. */
const noticeableMs = 1_000
/** So often the server is asked at once, unless an answer was as quick as that. */
const mostQuestions = 3
const quickMs = 20

/** What the server said: its time at a moment, and by how much that may be wrong. */
interface Measurement {
  readonly serverMs: number
  readonly atMs: number
  readonly errorMs: number
}

export interface ServerClockOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** What the server's clock says. */
  readonly ask: () => Promise<number>
}

/**
 * The server's clock as this program knows it: what the server said last, and the time that has passed since by a counter that
 * nobody can set. So it does not matter what the program's own clock says, nor that it is set while the program runs.
 */
export class ServerClock implements QueueTime {
  readonly #options: ServerClockOptions
  #last: Measurement | undefined
  /** When the server was asked last, by the counter and by the program's clock. */
  #asked = { atMs: 0, now: 0 }
  #asking: Promise<void> | undefined
  #latest = 0
  #isInDoubt = false
  #isTold = false

  constructor(options: ServerClockOptions) {
    this.#options = options
  }

  now(): number {
    const { serverMs, atMs } = this.#last ?? { serverMs: this.#options.clock.now(), atMs: monotonicMs() }
    const now = Math.floor(serverMs + monotonicMs() - atMs)
    // What is only a better measurement must not let something happen before what it follows.
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

  /** To be called before a call begins. Asks again now and then; a promise is to be waited for, because the time is in doubt. */
  check(): Promise<void> | undefined {
    const passedMs = monotonicMs() - this.#asked.atMs
    const hasJumped = Math.abs(this.#options.clock.now() - this.#asked.now - passedMs) > jumpMs
    if (hasJumped || this.#isInDoubt) return this.measure().catch(() => {})
    if (passedMs > freshMs) void this.measure().catch(() => {})
    return undefined
  }

  /** The next connection may lead to another server. */
  lost(): void {
    this.#isInDoubt = true
  }

  /** Resolves when nothing is asked any more. */
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
    const asked = { atMs: monotonicMs(), now: this.#options.clock.now() }
    let best: Measurement | undefined
    for (let question = 0; question < mostQuestions && (best?.errorMs ?? quickMs) >= quickMs / 2; question++) {
      const before = monotonicMs()
      const serverMs = await this.#options.ask()
      const tookMs = monotonicMs() - before
      const found = { serverMs, atMs: before + tookMs / 2, errorMs: tookMs / 2 }
      if (best === undefined || found.errorMs < best.errorMs) best = found
    }
    if (best === undefined) return
    this.#asked = asked
    this.#isInDoubt = false
    this.#heard(best)
    this.#tell(best)
  }

  /** What was known better before is not given up for an answer that took longer and says the same. */
  #heard(found: Measurement): void {
    const last = this.#last
    const expectedMs = last === undefined ? undefined : last.serverMs + found.atMs - last.atMs
    const isSame = expectedMs !== undefined && Math.abs(expectedMs - found.serverMs) <= found.errorMs
    if (last === undefined || !isSame || found.errorMs <= 2 * last.errorMs) this.#last = found
  }

  #tell({ serverMs, atMs, errorMs }: Measurement): void {
    const { clock, logger } = this.#options
    const aheadMs = Math.round(serverMs + monotonicMs() - atMs - clock.now())
    const isOff = Math.abs(aheadMs) > noticeableMs + errorMs
    if (isOff && !this.#isTold) logger.warn(skewText(aheadMs))
    this.#isTold = isOff
  }
}

/** `aheadMs`: so far the server's clock is ahead. */
function skewText(aheadMs: number): string {
  const offset = `${Math.abs(aheadMs)} ms ${aheadMs > 0 ? 'behind' : 'ahead of'}`
  return `the clock of this machine is ${offset} the database's. The queue goes by the database's clock, but instants that this program computes are off by as much: set the clock, and keep it in step (NTP)`
}

/** Of a clock that is moved by hand: it is the queue's too. */
export function handTime(clock: Clock): QueueTime {
  return {
    now: () => clock.now(),
    stated: () => clock.now(),
    toLocal: (at) => at,
    dueAt: (runAt) => runAt,
  }
}
