import { messageOf } from './errors.ts'
import type { Logger } from './logger.ts'
import { type Clock, stopwatchOf } from './time/clock.ts'

/** How often an error that goes on is logged. */
const logEveryMs = 60_000
/** More different errors than an outage has, and few enough to keep. */
const mostTexts = 100

interface Logged {
  readonly againAt: number
  readonly untold: number
}

/** Keeps an outage, in which every call fails again and again, from flooding a log. */
export class RepeatedErrors {
  readonly #elapsedMs: () => number
  readonly #logged = new Map<string, Logged>()

  constructor(clock: Clock) {
    this.#elapsedMs = stopwatchOf(clock)
  }

  /** The message to log, without its full stop, so that a sentence can continue. Null if it was logged within the last minute. */
  textOf(error: unknown): string | null {
    const text = clauseOf(error)
    const now = this.#elapsedMs()
    const { againAt = now, untold = 0 } = this.#logged.get(text) ?? {}
    if (now < againAt) {
      this.#logged.set(text, { againAt, untold: untold + 1 })
      return null
    }
    if (this.#logged.size >= mostTexts) this.#logged.clear()
    this.#logged.set(text, { againAt: now + logEveryMs, untold: 0 })
    return untold === 0 ? text : `${text} (${untold} more times since it was last logged)`
  }

  /** Logs a call that failed and will be retried, unless its error was logged within the last minute. `what` says what failed. */
  tryingAgain(logger: Pick<Logger, 'error'>, error: unknown, what?: string): void {
    const text = this.textOf(error)
    if (text !== null) logger.error(`${what === undefined ? '' : `${what}: `}${text}; trying again`)
  }

  /** The next error is another outage. */
  ended(): void {
    this.#logged.clear()
  }
}

/** The message of an error, as a part of a longer sentence. */
export function clauseOf(error: unknown): string {
  return messageOf(error).replace(/\.$/, '')
}
