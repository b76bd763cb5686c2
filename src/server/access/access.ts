import { createHash, timingSafeEqual } from 'node:crypto'
import { type Clock, pause } from '../../core/time/clock.ts'
import { FailedGuesses } from './failed-guesses.ts'
import { everything, Grant } from './grant.ts'
import type { ServerToken } from './server-token.ts'

interface Known {
  readonly digest: Buffer
  readonly grant: Grant
}

/** Decides who may do what, for every listener of a server. Without tokens the server is open to this machine. */
export class Access {
  readonly #known: readonly Known[]
  readonly #guesses: FailedGuesses
  readonly #clock: Clock

  constructor(tokens: readonly ServerToken[], clock: Clock) {
    this.#known = tokens.map((token) => ({ digest: digestOf(token.secret), grant: new Grant(token.role, token) }))
    this.#guesses = new FailedGuesses(clock)
    this.#clock = clock
  }

  /** Whether no token is needed. */
  get isOpen(): boolean {
    return this.#known.length === 0
  }

  /** What clients without a token may do: everything if the server is open, otherwise nothing. */
  get ofEverybody(): Grant | null {
    return this.isOpen ? everything : null
  }

  /** How long to wait before checking a token from this address; null if too many from there are waiting already. */
  delayMs(address: string): number | null {
    return this.#guesses.delayMs(address)
  }

  /** Resolves when a token from this address may be checked. Resolves to false if too many from there are waiting already. */
  async wait(address: string): Promise<boolean> {
    const delayMs = this.delayMs(address)
    if (delayMs === null) return false
    if (delayMs === 0) return true
    this.#guesses.waits(address, 1)
    await pause(this.#clock, delayMs)
    this.#guesses.waits(address, -1)
    return true
  }

  /** The grant for this secret; null if it is not a token. Compares it with every token, so each guess takes the same time. */
  grantOf(secret: string, address: string): Grant | null {
    const given = digestOf(secret)
    let found: Grant | null = null
    for (const { digest, grant } of this.#known) if (timingSafeEqual(given, digest)) found = grant
    if (found === null) this.#guesses.failed(address)
    return found
  }
}

/** The token in `Authorization: Bearer …`; undefined if there is no such header, empty if the header has another form. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : (/^Bearer +(.*?) *$/i.exec(authorization)?.[1] ?? '')
}

/** Digests have the same length, however long the guess is. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
