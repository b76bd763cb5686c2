import { randomToken } from '../../core/id.ts'
import type { BrokerMessage } from '../broker/message.ts'
import type { Session } from './connection/session.ts'

/** A job that this program has reserved. It is bound to the connection that reserved it. */
export interface HeldJob {
  readonly token: string
  readonly session: Session
  readonly owner: string
  /** Changes when an updated copy replaces the job. */
  serverId: string
  message: BrokerMessage
  /** How many of its owners have died so far. */
  readonly rescues: number
  /** In seconds. */
  ttr: number
  /** Whether a settlement is in progress. */
  isSettling: boolean
  /** The answer to its settlement was lost, so the settlement may have been applied. */
  isUnconfirmed: boolean
  /** The server's id of the replacement copy, if it was stored before the answers stopped. */
  copyId: string | null
}

export type NewlyHeld = Pick<HeldJob, 'session' | 'owner' | 'serverId' | 'message' | 'rescues' | 'ttr'>

/** The jobs that this program holds, by token. */
export class HeldJobs {
  readonly #byToken = new Map<string, HeldJob>()
  /** By the ids of their envelopes. */
  readonly #byJob = new Map<string, HeldJob>()
  readonly #bySession = new Map<Session, Map<string, string>>()

  /** If the same connection reserves a job again, it was lost in between, and the older token is invalid. */
  add(job: NewlyHeld): HeldJob {
    const held = { token: randomToken(), isSettling: false, isUnconfirmed: false, copyId: null, ...job }
    const tokens = this.#tokensOf(held.session)
    const older = tokens.get(held.serverId)
    const lost = older === undefined ? undefined : this.#byToken.get(older)
    if (lost !== undefined) this.remove(lost)
    tokens.set(held.serverId, held.token)
    this.#byToken.set(held.token, held)
    this.#byJob.set(held.message.envelope.id, held)
    return held
  }

  get(token: string): HeldJob | undefined {
    return this.#byToken.get(token)
  }

  /** Whether this program is running another copy of this job. */
  hasCopyOf(id: string, serverId: string): boolean {
    const held = this.#byJob.get(id)
    return held !== undefined && held.serverId !== serverId && held.session.isOpen && !held.isSettling
  }

  countOf(session: Session): number {
    return this.#bySession.get(session)?.size ?? 0
  }

  /** From now on the copy is the job. */
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
    const { id } = held.message.envelope
    if (this.#byJob.get(id) === held) this.#byJob.delete(id)
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
