import type { Rate } from '../contract/limits.ts'
import { nextTokenAt, type RateLog, tokensLeft, withTaken } from './rate-window.ts'

/** The tokens that a rate leaves to one claim. */
export class Tokens {
  readonly scope: string
  readonly rate: Rate
  readonly #before: RateLog
  readonly #now: number
  #left: number
  #taken = 0

  constructor(scope: string, rate: Rate, log: RateLog, now: number) {
    this.scope = scope
    this.rate = rate
    this.#before = log
    this.#now = now
    this.#left = tokensLeft(log, rate, now)
  }

  get left(): number {
    return this.#left
  }

  get isTaken(): boolean {
    return this.#taken > 0
  }

  /** The log including the tokens taken. */
  get log(): RateLog {
    return this.logAt(this.#now)
  }

  /** The log including the tokens taken, for when they were taken later than they were chosen. */
  logAt(now: number): RateLog {
    return withTaken(this.#before, this.rate, now, this.#taken)
  }

  get nextAt(): number {
    return nextTokenAt(this.log, this.rate, this.#now)
  }

  take(): void {
    this.#left--
    this.#taken++
  }
}
