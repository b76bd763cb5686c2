import type { Clock } from '../../core/time/clock.ts'

interface Guesser {
  failures: number
  lastAt: number
  /** Number of guesses waiting to be checked. */
  waiting: number
}

const freeFailures = 5
const firstDelayMs = 100
const longestDelayMs = 5_000
/** After this long without a failure, an address starts from zero. */
const forgottenAfterMs = 60_000
const mostWaiting = 64
const mostAddresses = 10_000

/**
 * Failed tokens by source address. Each failure delays the next check of a token from that address, even of a valid one:
 * otherwise an attacker would not have to wait for the result. Other addresses are not delayed.
 */
export class FailedGuesses {
  readonly #clock: Clock
  readonly #guessers = new Map<string, Guesser>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long to wait before checking a token from this address; null if too many from there are waiting already. */
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

  /** A guess from this address starts or stops waiting. */
  waits(address: string, change: 1 | -1): void {
    const guesser = this.#guessers.get(placeOf(address))
    if (guesser !== undefined) guesser.waiting = Math.max(0, guesser.waiting + change)
  }

  /** Drops the address whose last failure is the oldest. */
  #forgetOldest(): void {
    for (const oldest of this.#guessers.keys()) {
      this.#guessers.delete(oldest)
      return
    }
  }
}

/** One customer of a provider has 2^64 IPv6 addresses; they count as one. */
function placeOf(address: string): string {
  return address.includes(':') && !address.startsWith('::ffff:') ? address.split(':').slice(0, 4).join(':') : address
}
