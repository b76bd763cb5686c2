import type { Clock } from '../../core/time/clock.ts'
import type { Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { amended } from '../../queue/rules/jobs/job.ts'
import { type BrokerMessage, readMessage, withAttemptError } from '../broker/message.ts'
import { SettlementBatches } from '../broker/settlement-batches.ts'
import { deleteJob, isPutRefused, peek, release, touch } from './connection/commands.ts'
import type { Link } from './connection/link.ts'
import type { Session } from './connection/session.ts'
import { type Copies, priOf, secondsOf } from './copies.ts'
import type { EndedJobs } from './ended-jobs.ts'
import type { HeldJob, HeldJobs } from './held-jobs.ts'

export interface SettlingDeps {
  readonly link: Link
  readonly held: HeldJobs
  readonly ended: EndedJobs
  readonly copies: Copies
  readonly clock: Clock
}

/** Begins, extends and settles leases. */
export class Settling {
  readonly #deps: SettlingDeps
  readonly #batches = new SettlementBatches()

  constructor(deps: SettlingDeps) {
    this.#deps = deps
  }

  /** Each job needs a few commands of its own, and those of all jobs are pipelined. */
  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    return this.#batches.settle(settlements, (settlement) => this.#settle(settlement))
  }

  async begin(token: string): Promise<SettleReceipt> {
    const held = this.#heldBy(token)
    return held === undefined ? 'lost' : this.#change(held, { ...held.message, begunBy: held.owner }, held.ttr)
  }

  async extend(token: string, leaseMs: number, alone: boolean): Promise<SettleReceipt> {
    const held = this.#heldBy(token)
    if (held === undefined) return 'lost'
    const ttr = Math.max(held.ttr, secondsOf(leaseMs))
    const { message } = held
    if (ttr > held.ttr || (alone && !message.alone)) {
      try {
        return await this.#change(held, { ...message, alone: alone || message.alone }, ttr)
      } catch (thrown) {
        // It can still be held for as long as before.
        if (!isPutRefused(thrown)) throw thrown
      }
    }
    if (await touch(held.session, held.serverId)) return 'applied'
    this.#deps.held.remove(held)
    return 'lost'
  }

  /** A job held over a closed connection is lost. */
  #heldBy(token: string): HeldJob | undefined {
    const held = this.#deps.held.get(token)
    if (held === undefined || held.isSettling) return undefined
    if (held.session.isOpen) return held
    // Its settlement may still be retried.
    if (!held.isUnconfirmed) this.#deps.held.remove(held)
    return undefined
  }

  async #change(held: HeldJob, changed: BrokerMessage, ttr: number): Promise<SettleReceipt> {
    const message = { ...changed, rescues: held.rescues }
    const copyId = await this.#deps.copies.keep(held, { message, ttr })
    if (copyId === null) this.#deps.held.remove(held)
    else this.#deps.held.replace(held, copyId, message, ttr)
    return copyId === null ? 'lost' : 'applied'
  }

  async #settle(settlement: Settlement): Promise<SettleReceipt> {
    const { held } = this.#deps
    const job = held.get(settlement.token)
    if (job === undefined || job.isSettling) return 'lost'
    job.isSettling = true
    try {
      const isApplied = await (job.session.isOpen ? this.#end(job, settlement) : this.#endLate(job, settlement))
      held.remove(job)
      if (isApplied && isFinalEnd(settlement)) this.#deps.ended.add(job.message.envelope.id)
      return isApplied ? 'applied' : 'lost'
    } catch (thrown) {
      job.isUnconfirmed = true
      throw thrown
    } finally {
      job.isSettling = false
    }
  }

  #end(held: HeldJob, settlement: Settlement): Promise<boolean> {
    const { session, serverId, message } = held
    switch (settlement.kind) {
      case 'done':
      case 'cancelled':
      case 'skipped':
        return deleteJob(session, serverId)
      case 'retry':
        return this.#putBack(held, retried(message, settlement), settlement.delayMs)
      case 'dead': {
        if (!settlement.keep) return deleteJob(session, serverId)
        const { reason, error } = settlement
        const dead = { ...withAttemptError(message, error), rescues: held.rescues, dead: reason }
        return this.#deps.copies.bury(held, { message: dead, ttr: held.ttr, onStored: storedBy(held) })
      }
      case 'again':
        return this.#putBack(held, renewed(message, settlement.envelope), settlement.envelope.runAt - this.#deps.clock.now())
      case 'snooze':
      case 'wait': {
        const delayMs = settlement.kind === 'snooze' ? settlement.delayMs : 0
        // Undoing a beginning has to be written into the job.
        if (message.begunBy !== null) return this.#putBack(held, unbegun(message, held.rescues), delayMs)
        return release(session, serverId, priOf(message), secondsOf(delayMs))
      }
    }
  }

  #putBack(held: HeldJob, message: BrokerMessage, delayMs: number): Promise<boolean> {
    const delay = secondsOf(delayMs)
    return this.#deps.copies.putBack(held, { message, delay, ttr: held.ttr, onStored: storedBy(held) })
  }

  /**
   * The connection that held the job has closed, so the server has returned it to the queue. A finished job must not run again,
   * so it is deleted unless another worker has started it. For any other settlement, the job is in the queue as it was.
   */
  async #endLate(held: HeldJob, { kind }: Settlement): Promise<boolean> {
    const session = await this.#deps.link.session()
    const { serverId, copyId, isUnconfirmed } = held
    const isEnd = isFinalEnd({ kind })
    if (!isEnd && copyId === null) return false
    const isThere = await isSameJob(session, serverId, held)
    // An earlier attempt asked to delete it, and it is gone.
    if (!isThere) return isUnconfirmed
    if (await deleteJob(session, serverId)) return true
    if (copyId !== null && (await isSameJob(session, copyId, held))) await deleteJob(session, copyId)
    return false
  }
}

/** Whether the job leaves the server. */
function isFinalEnd({ kind }: Pick<Settlement, 'kind'>): boolean {
  return kind === 'done' || kind === 'cancelled' || kind === 'skipped'
}

/** A server that has lost its jobs reuses ids, so check that the id still belongs to the same job. */
async function isSameJob(session: Session, serverId: string, { message }: HeldJob): Promise<boolean> {
  const job = await peek(session, `peek ${serverId}`)
  if (job === null) return false
  try {
    return readMessage(job.body.toString(), 0).envelope.id === message.envelope.id
  } catch {
    return false
  }
}

function storedBy(held: HeldJob): (copyId: string) => void {
  return (copyId) => {
    held.copyId = copyId
  }
}

function retried(message: BrokerMessage, { error }: Extract<Settlement, { kind: 'retry' }>): BrokerMessage {
  const attempts = message.attempts + 1
  return { ...withAttemptError(message, error), attempts, begunBy: null, alone: false }
}

function renewed(message: BrokerMessage, envelope: BrokerMessage['envelope']): BrokerMessage {
  const fresh = { attempts: 0, rescues: 0, begunBy: null, alone: false, dead: null }
  return { ...message, ...fresh, envelope: amended(message.envelope, envelope) }
}

function unbegun(message: BrokerMessage, rescues: number): BrokerMessage {
  return { ...message, rescues, begunBy: null }
}
