import { createHash } from 'node:crypto'
import { randomToken } from '../../../core/id.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Grant } from '../../access/grant.ts'
import type { Viewer } from './viewer.ts'

const sessionMs = 12 * 3_600_000
const codeMs = 10 * 60_000
const mostSessions = 1_000

interface Kept {
  readonly viewer: Viewer
  readonly endsAt: number
}

/** Who is signed in. Only digests are kept: whoever reads this memory can sign in as nobody. */
export class Sessions {
  readonly #clock: Clock
  readonly #sessions = new Map<string, Kept>()
  readonly #codes = new Map<string, { readonly grant: Grant; readonly endsAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A code that is worth a session, once and for ten minutes. */
  newCode(grant: Grant): string {
    const code = randomToken()
    this.#codes.set(digestOf(code), { grant, endsAt: this.#clock.now() + codeMs })
    return code
  }

  /** Null where there is no such code, or it was used, or its time is over. */
  redeem(code: string): Grant | null {
    const key = digestOf(code)
    const found = this.#codes.get(key)
    this.#codes.delete(key)
    return found === undefined || found.endsAt <= this.#clock.now() ? null : found.grant
  }

  begin(grant: Grant, user: string | null): string {
    const secret = `${randomToken()}${randomToken()}`
    // The oldest makes room.
    for (const old of this.#sessions.keys()) if (this.#sessions.size >= mostSessions) this.#sessions.delete(old)
    this.#sessions.set(digestOf(secret), { viewer: { user, grant, canLogOut: true }, endsAt: this.#clock.now() + sessionMs })
    return secret
  }

  find(secret: string): Viewer | null {
    const key = digestOf(secret)
    const found = this.#sessions.get(key)
    if (found === undefined) return null
    if (found.endsAt > this.#clock.now()) return found.viewer
    this.#sessions.delete(key)
    return null
  }

  end(secret: string): void {
    this.#sessions.delete(digestOf(secret))
  }
}

export const sessionSeconds = sessionMs / 1_000

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
