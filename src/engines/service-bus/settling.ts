import type { Clock } from '../../core/time/clock.ts'
import type { ReapReport, Settlement, SettleReceipt } from '../../queue/contract/contract.ts'
import { interruption } from '../../queue/contract/failure.ts'
import { poisoned } from './claiming.ts'
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
  /** Receipts from batches that failed partially, returned when those settlements are retried. */
  readonly #answered = new Map<string, SettleReceipt>()

  constructor(deps: SettlingDeps) {
    this.#deps = deps
  }

  async settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    const answers = await Promise.allSettled(settlements.map((settlement) => this.#settleOne(settlement)))
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (failed === undefined) return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : 'lost'))
    answers.forEach((answer, index) => {
      if (answer.status === 'fulfilled') this.#answered.set(settlements[index]?.token ?? '', answer.value)
    })
    throw failed.reason
  }

  /** Returns expired leases of this program. Those of other programs come back when their locks expire. */
  async reap(maxRescues: number, deadOwners: readonly string[] = []): Promise<ReapReport> {
    const { clock, held } = this.#deps
    const ends = await Promise.all(
      held.expired(clock.now(), deadOwners).map((job) => this.#once(job.token, () => this.#rescue(job, maxRescues))),
    )
    return { returned: count(ends, 'returned'), poisoned: count(ends, 'poisoned') }
  }

  async #settleOne(settlement: Settlement): Promise<SettleReceipt> {
    const { token } = settlement
    const answered = this.#answered.get(token)
    if (answered !== undefined) {
      this.#answered.delete(token)
      return answered
    }
    const receipt = await this.#once(token, async (job) => ((await this.#end(job, settlement)) ? 'applied' : 'lost'))
    return receipt ?? 'lost'
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
        const errors = [...state.errors, settlement.error]
        return back.putBack(job, { ...state, attempts: state.attempts + 1, errors }, settlement.delayMs)
      }
      case 'snooze':
        return back.putBack(job, state, settlement.delayMs, settlement.delayMs <= 0)
      // There are no child jobs here, so there is nothing to wait for.
      case 'wait':
        return back.putBack(job, state, 0, true)
      case 'again': {
        const { number, createdAt, uniqueKey, uniqueUntil } = job.envelope
        const envelope = { ...settlement.envelope, number, createdAt, uniqueKey, uniqueUntil }
        return back.replace(job, envelope, { ...state, attempts: 0 }, Math.max(envelope.runAt, this.#deps.clock.now()))
      }
      case 'dead':
        return settlement.keep ? back.bury(job, settlement.reason, settlement.error) : back.remove(job)
    }
  }

  async #rescue(job: HeldJob, maxRescues: number): Promise<'returned' | 'poisoned' | 'gone'> {
    const { back, clock } = this.#deps
    const rescues = job.rescues + 1
    const error = (message: string) => ({ attempt: job.state.attempts + 1, at: clock.now(), message })
    if (job.begun !== null) {
      await back.bury(job, 'interrupted', error(interruption(job.owner)))
      return 'gone'
    }
    if (rescues > maxRescues && !job.amongOthers)
      return (await back.bury(job, 'poisoned', error(poisoned(rescues)))) ? 'poisoned' : 'gone'
    return (await back.putBack(job, { ...job.state, rescues }, 0, true)) ? 'returned' : 'gone'
  }
}

function count(ends: readonly (string | undefined)[], wanted: string): number {
  return ends.filter((end) => end === wanted).length
}
