import type { Clock } from '../../core/time/clock.ts'

interface Guesser {
  failures: number
  lastAt: number
  /** Guesses that wait to be looked at. */
  waiting: number
}

const freeFailures = 5
const firstDelayMs = 100
const longestDelayMs = 5_000
/** Who has not failed for so long begins anew. */
const forgottenAfterMs = 60_000
const mostWaiting = 64
const mostAddresses = 10_000

/**
 * Wrong tokens, by the address that they came from. Each makes the next look at a token from there come later, also at a right one:
 * otherwise nobody would have to wait for the answer. Other addresses wait for nothing.
 */
export class FailedGuesses {
  readonly #clock: Clock
  readonly #guessers = new Map<string, Guesser>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long a token from this address is not looked at; null where too many from there wait already. */
  delayMs(address: string): number | null {
    const guesser = this.#guessers.get(placeOf(address))
    if (guesser === undefined || this.#clock.now() - guesser.lastAt > forgottenAfterMs) return 0
    if (guesser.failures < freeFailures) return 0
    if (guesser.waiting >= mostWaiting) return null
    return Math.min(longestDelayMs, firstDelayMs * 2 ** (guesser.failures - freeFailures))
  }

  failed(address: string): void {
    const place = placeOf(address)
    const now = this.#clock.now()
    const known = this.#guessers.get(place)
    const isRecent = known !== undefined && now - known.lastAt <= forgottenAfterMs
    this.#guessers.delete(place)
    if (this.#guessers.size >= mostAddresses) this.#forgetOldest()
    this.#guessers.set(place, { failures: isRecent ? known.failures + 1 : 1, lastAt: now, waiting: known?.waiting ?? 0 })
  }

  /** A guess from this address begins to wait, or ends it. */
  waits(address: string, change: 1 | -1): void {
    const guesser = this.#guessers.get(placeOf(address))
    if (guesser !== undefined) guesser.waiting = Math.max(0, guesser.waiting + change)
  }

  /** Who has failed the longest ago makes room. */
  #forgetOldest(): void {
    for (const oldest of this.#guessers.keys()) {
      this.#guessers.delete(oldest)
      return
    }
  }
}

/** One customer of a provider has 2^64 addresses of IPv6, and is one all the same. */
function placeOf(address: string): string {
  return address.includes(':') && !address.startsWith('::ffff:') ? address.split(':').slice(0, 4).join(':') : address
}
