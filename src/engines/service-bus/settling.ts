import type { Clock } from '../../core/time/clock.ts'
import type { ReapReport, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { rescueOf, rescueText } from '../../queue/rules/claiming/rescue.ts'
import { amended, withError } from '../../queue/rules/jobs/job.ts'
import { SettlementBatches } from '../broker/settlement-batches.ts'
import type { HandingBack } from './handing-back.ts'
import type { HeldJob, HeldJobs } from './messages/held-jobs.ts'

export interface SettlingDeps {
  readonly clock: Clock
  readonly held: HeldJobs
  readonly back: HandingBack
}

/** Settles and reaps leases. */
export class Settling {
  readonly #deps: SettlingDeps
  readonly #batches = new SettlementBatches()

  constructor(deps: SettlingDeps) {
    this.#deps = deps
  }

  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    return this.#batches.settle(settlements, async (settlement) => {
      const isEnded = await this.#once(settlement.token, (job) => this.#end(job, settlement))
      return isEnded === true ? 'applied' : 'lost'
    })
  }

  /** Returns expired leases of this program. Those of other programs come back when their locks expire. */
  async reap(maxRescues: number, deadOwners: readonly string[] = []): Promise<ReapReport> {
    const { clock, held } = this.#deps
    const ends = await Promise.all(
      held.expired(clock.now(), deadOwners).map((job) => this.#once(job.token, () => this.#rescue(job, maxRescues))),
    )
    return { returned: count(ends, 'returned'), poisoned: count(ends, 'poisoned') }
  }

  /** Nothing else can take the lease while this runs. If the broker does not answer, the lease is kept for another attempt. */
  async #once<Answer>(token: string, end: (job: HeldJob) => Promise<Answer>): Promise<Answer | undefined> {
    const { held } = this.#deps
    const job = held.take(token)
    if (job === undefined) return undefined
    try {
      return await end(job)
    } catch (thrown) {
      held.add(job)
      throw thrown
    }
  }

  #end(job: HeldJob, settlement: Settlement): Promise<boolean> {
    const { back } = this.#deps
    const state = { ...job.state, rescues: job.rescues, begun: null, unknown: 0 }
    switch (settlement.kind) {
      case 'done':
      case 'cancelled':
      case 'skipped':
        return back.remove(job)
      case 'retry': {
        const errors = withError(state, settlement.error)
        return back.putBack(job, { ...state, attempts: state.attempts + 1, errors }, settlement.delayMs)
      }
      case 'snooze':
        return back.putBack(job, state, settlement.delayMs, settlement.delayMs <= 0)
      // There are no child jobs here, so there is nothing to wait for.
      case 'wait':
        return back.putBack(job, state, 0, true)
      case 'again': {
        const envelope = amended(job.envelope, settlement.envelope)
        return back.replace(job, envelope, { ...state, attempts: 0 }, Math.max(envelope.runAt, this.#deps.clock.now()))
      }
      case 'dead':
        return settlement.keep ? back.bury(job, settlement.reason, settlement.error) : back.remove(job)
    }
  }

  async #rescue(job: HeldJob, maxRescues: number): Promise<'returned' | 'poisoned' | 'gone'> {
    const { back, clock } = this.#deps
    const rescues = job.rescues + 1
    const rescue = rescueOf({ begun: job.begun !== null, amongOthers: job.amongOthers }, rescues, maxRescues)
    if (rescue === 'returned') return (await back.putBack(job, { ...job.state, rescues }, 0, true)) ? 'returned' : 'gone'
    const error = { attempt: job.state.attempts + 1, at: clock.now(), message: rescueText(rescue, job.owner, rescues) }
    const isBuried = await back.bury(job, rescue, error)
    return isBuried && rescue === 'poisoned' ? 'poisoned' : 'gone'
  }
}

function count(ends: readonly (string | undefined)[], wanted: string): number {
  return ends.filter((end) => end === wanted).length
}
