import { type Access, bearerOf } from '../../access/access.ts'
import { Grant } from '../../access/grant.ts'

/** The grant of clients without a token: load balancers check whether the server is alive. */
export const nobody = new Grant('read', { queues: [] })

/**
 * What a request may do; a null grant means nothing. A token that has not been checked yet may have to wait for that, or be
 * refused because too many are waiting.
 */
export type Admission = { readonly grant: Grant | null } | { readonly later: string } | 'too many failures'

/** What the client of one connection may do, according to the last token that it sent. */
export class ClientAccess {
  readonly #access: Access
  readonly #remoteAddress: string
  readonly #onAdmitted: () => void
  #grant: Grant | null
  /** The last valid token, which is not checked again. */
  #secret: string | undefined

  constructor(access: Access, remoteAddress: string, onAdmitted: () => void) {
    this.#access = access
    this.#remoteAddress = remoteAddress
    this.#onAdmitted = onAdmitted
    this.#grant = access.ofEverybody
  }

  /** Null until the client has sent a valid token. */
  get grant(): Grant | null {
    return this.#grant
  }

  /** Checks the token if it differs from the last one. */
  admit(headers: ReadonlyMap<string, string>): Admission {
    const secret = shownSecret(headers)
    if (secret === undefined || secret === this.#secret) return { grant: this.#grant }
    const delayMs = this.#access.delayMs(this.#remoteAddress)
    if (delayMs === null) return 'too many failures'
    return delayMs === 0 ? { grant: this.look(secret) } : { later: secret }
  }

  async wait(): Promise<boolean> {
    return this.#access.wait(this.#remoteAddress)
  }

  /** A request may be large if its token is among the headers that arrive first. */
  hasBegunWithToken(headers: ReadonlyMap<string, string>): boolean {
    const secret = this.#grant === null ? shownSecret(headers) : undefined
    return secret !== undefined && this.#access.delayMs(this.#remoteAddress) === 0 && this.look(secret) !== null
  }

  look(secret: string): Grant | null {
    this.#grant = this.#access.grantOf(secret, this.#remoteAddress)
    this.#secret = this.#grant === null ? undefined : secret
    if (this.#grant !== null) this.#onAdmitted()
    return this.#grant
  }
}

/** The token in the headers, from `token: …` or `Authorization: Bearer …`. Undefined if there is none. */
function shownSecret(headers: ReadonlyMap<string, string>): string | undefined {
  return headers.get('token') ?? bearerOf(headers.get('authorization'))
}
