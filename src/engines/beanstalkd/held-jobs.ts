import { randomToken } from '../../core/id.ts'
import type { BrokerMessage } from '../broker/message.ts'
import type { Session } from './session.ts'

/** A job that this program has reserved. It is bound to the connection that it was reserved over. */
export interface HeldJob {
  readonly token: string
  readonly session: Session
  readonly owner: string
  /** Another one when a changed copy has taken the job's place. */
  serverId: string
  message: BrokerMessage
  /** How many of its owners have died so far. */
  readonly rescues: number
  /** In seconds. */
  ttr: number
  /** A settlement of it is under way. */
  isSettling: boolean
  /** The answer to its settlement was lost: it may have been carried out. */
  isUnconfirmed: boolean
  /** The server's id of the copy that was to take its place, where that was stored before the answers stopped. */
  copyId: string | null
}

export type NewlyHeld = Pick<HeldJob, 'session' | 'owner' | 'serverId' | 'message' | 'rescues' | 'ttr'>

/** What this program holds, by the tokens that it gave out. */
export class HeldJobs {
  readonly #byToken = new Map<string, HeldJob>()
  readonly #bySession = new Map<Session, Map<string, string>>()

  /** A job that the same connection has reserved again was lost in between: the older token is worth nothing. */
  add(job: NewlyHeld): HeldJob {
    const held = { ...job, token: randomToken(), isSettling: false, isUnconfirmed: false, copyId: null }
    const tokens = this.#tokensOf(held.session)
    const older = tokens.get(held.serverId)
    if (older !== undefined) this.#byToken.delete(older)
    tokens.set(held.serverId, held.token)
    this.#byToken.set(held.token, held)
    return held
  }

  get(token: string): HeldJob | undefined {
    return this.#byToken.get(token)
  }

  countOf(session: Session): number {
    return this.#bySession.get(session)?.size ?? 0
  }

  /** The copy is the job from now on. */
  replace(held: HeldJob, copyId: string, message: BrokerMessage, ttr: number): void {
    const tokens = this.#bySession.get(held.session)
    tokens?.delete(held.serverId)
    tokens?.set(copyId, held.token)
    held.serverId = copyId
    held.message = message
    held.ttr = ttr
  }

  remove(held: HeldJob): void {
    this.#byToken.delete(held.token)
    const tokens = this.#bySession.get(held.session)
    if (tokens?.get(held.serverId) === held.token) tokens.delete(held.serverId)
  }

  #tokensOf(session: Session): Map<string, string> {
    let tokens = this.#bySession.get(session)
    if (tokens === undefined) {
      tokens = new Map()
      this.#bySession.set(session, tokens)
      session.onClosed(() => this.#bySession.delete(session))
    }
    return tokens
  }
}
