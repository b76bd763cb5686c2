import type { Rate } from '../../contract/limits.ts'
import { nextTokenAt, type RateLog, tokensLeft, withTaken } from './rate-window.ts'

/** What a rate has let through, and when that no longer matters. */
export interface Counted {
  readonly log: RateLog
  readonly expiresAt: number
}

const tidyAbove = 1_024

/** What rates have recently let through, by scope. */
export class Rates {
  readonly #scopes: Map<string, Counted>
  #tidyAt = tidyAbove

  constructor(scopes = new Map<string, Counted>()) {
    this.#scopes = scopes
  }

  logOf(scope: string): RateLog {
    return this.#scopes.get(scope)?.log ?? []
  }

  left(scope: string, rate: Rate, now: number): number {
    return tokensLeft(this.logOf(scope), rate, now)
  }

  nextAt(scope: string, rate: Rate, now: number): number {
    return nextTokenAt(this.logOf(scope), rate, now)
  }

  take(scope: string, rate: Rate, now: number): void {
    const log = withTaken(this.logOf(scope), rate, now, 1)
    this.#scopes.set(scope, { log, expiresAt: (log.at(-1)?.[0] ?? now) + rate.perMs })
    if (this.#scopes.size > this.#tidyAt) this.#tidy(now)
  }

  /** Adjusts to a clock that was set. */
  move(byMs: number): void {
    for (const [scope, { log, expiresAt }] of this.#scopes) {
      this.#scopes.set(scope, { log: log.map(([at, count]) => [at + byMs, count]), expiresAt: expiresAt + byMs })
    }
  }

  /** Groups come and go, so expired scopes are deleted. */
  #tidy(now: number): void {
    for (const [scope, { expiresAt }] of this.#scopes) if (expiresAt <= now) this.#scopes.delete(scope)
    this.#tidyAt = Math.max(tidyAbove, 2 * this.#scopes.size)
  }
}
