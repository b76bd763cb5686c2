import { type Access, bearerOf } from '../../access/access.ts'
import { Grant } from '../../access/grant.ts'

/** Who has shown no token: load balancers ask whether the server lives. */
export const nobody = new Grant('read', { queues: [] })

/** What a request may do: null is nothing. A token that was not looked up yet may have to wait for that, or is one too many. */
export type Admission = { readonly grant: Grant | null } | { readonly later: string } | 'too many failures'

/** What the client of one connection may do, by the token that it has shown last. */
export class ClientAccess {
  readonly #access: Access
  readonly #remoteAddress: string
  readonly #onAdmitted: () => void
  #grant: Grant | null
  /** The token that was shown last, and is not looked up again. */
  #secret: string | undefined

  constructor(access: Access, remoteAddress: string, onAdmitted: () => void) {
    this.#access = access
    this.#remoteAddress = remoteAddress
    this.#onAdmitted = onAdmitted
    this.#grant = access.ofEverybody
  }

  /** Null until a token is shown. */
  get grant(): Grant | null {
    return this.#grant
  }

  /** Looks at the token where the request shows another one than the last. */
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

  /** A request may be large where it shows its token first. */
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

/** What the headers show: `token: …` or `Authorization: Bearer …`. Undefined where they show nothing. */
function shownSecret(headers: ReadonlyMap<string, string>): string | undefined {
  return headers.get('token') ?? bearerOf(headers.get('authorization'))
}
