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

/** The signed-in sessions. Only digests are kept, so reading this memory does not let anyone sign in. */
export class Sessions {
  readonly #clock: Clock
  readonly #sessions = new Map<string, Kept>()
  readonly #codes = new Map<string, { readonly grant: Grant; readonly endsAt: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns a code that can be exchanged for a session once, within ten minutes. */
  newCode(grant: Grant): string {
    const code = randomToken()
    this.#codes.set(digestOf(code), { grant, endsAt: this.#clock.now() + codeMs })
    return code
  }

  /** Null if the code is unknown, used or expired. */
  redeem(code: string): Grant | null {
    const key = digestOf(code)
    const found = this.#codes.get(key)
    this.#codes.delete(key)
    return found === undefined || found.endsAt <= this.#clock.now() ? null : found.grant
  }

  begin(grant: Grant, user: string | null): string {
    const secret = `${randomToken()}${randomToken()}`
    // Evict the oldest session.
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
