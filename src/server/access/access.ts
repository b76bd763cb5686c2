import { createHash, timingSafeEqual } from 'node:crypto'
import { type Clock, pause } from '../../core/time/clock.ts'
import { FailedGuesses } from './failed-guesses.ts'
import { everything, Grant } from './grant.ts'
import type { ServerToken } from './server-token.ts'

interface Known {
  readonly digest: Buffer
  readonly grant: Grant
}

/** Who may do what, for all ways into a server. Without tokens it is open to this machine. */
export class Access {
  readonly #known: readonly Known[]
  readonly #guesses: FailedGuesses
  readonly #clock: Clock

  constructor(tokens: readonly ServerToken[], clock: Clock) {
    this.#known = tokens.map((token) => ({ digest: digestOf(token.secret), grant: new Grant(token.role, token) }))
    this.#guesses = new FailedGuesses(clock)
    this.#clock = clock
  }

  /** No token is needed. */
  get isOpen(): boolean {
    return this.#known.length === 0
  }

  /** What everybody may do: everything where it is open, otherwise nothing. */
  get ofEverybody(): Grant | null {
    return this.isOpen ? everything : null
  }

  /** How long a token from this address is not looked at; null where too many from there wait already. */
  delayMs(address: string): number | null {
    return this.#guesses.delayMs(address)
  }

  /** Resolves when a token from this address may be looked at: false where too many from there wait already. */
  async wait(address: string): Promise<boolean> {
    const delayMs = this.delayMs(address)
    if (delayMs === null) return false
    if (delayMs === 0) return true
    this.#guesses.waits(address, 1)
    await pause(this.#clock, delayMs)
    this.#guesses.waits(address, -1)
    return true
  }

  /** What whoever shows this may do; null where it is no token. It is compared with all of them, in the same time for each guess. */
  grantOf(secret: string, address: string): Grant | null {
    const given = digestOf(secret)
    let found: Grant | null = null
    for (const { digest, grant } of this.#known) if (timingSafeEqual(given, digest)) found = grant
    if (found === null) this.#guesses.failed(address)
    return found
  }
}

/** What `Authorization: Bearer …` shows; undefined where there is no such header, empty where it shows something else. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : (/^Bearer +(.*?) *$/i.exec(authorization)?.[1] ?? '')
}

/** Digests have one length, whatever that of the guess is. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
