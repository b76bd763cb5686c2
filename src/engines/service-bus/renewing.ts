import type { Clock, Timer } from '../../core/time/clock.ts'
import type { SettleReceipt } from '../../queue/contract/contract.ts'
import type { Entity } from './connections/entity.ts'
import type { HandingBack } from './handing-back.ts'
import type { HeldJob, HeldJobs } from './messages/held-jobs.ts'
import { toMessage } from './messages/message.ts'

export interface RenewingDeps {
  readonly clock: Clock
  readonly held: HeldJobs
  readonly back: HandingBack
  readonly entityOf: (queue: string, priority: number) => Entity
}

const shortestPauseMs = 1_000

/** Keeps leases alive: by the locks of their messages, or by a scheduled message once a job has begun and must not run again. */
export class Renewing {
  readonly #deps: RenewingDeps
  #timer: Timer | undefined
  #isClosed = false

  constructor(deps: RenewingDeps) {
    this.#deps = deps
  }

  extend(tokens: readonly string[], leaseMs: number, alone: boolean): Promise<readonly SettleReceipt[]> {
    return this.#forEach(tokens, async (job) => {
      const expiresAt = this.#deps.clock.now() + leaseMs
      const isKept = job.begun === null ? await this.#keepLocked(job, expiresAt) : await this.#postpone(job, expiresAt)
      if (isKept) job.expiresAt = expiresAt
      if (isKept && alone) job.amongOthers = false
      return isKept
    })
  }

  /**
   * Replaces the locked message with one that is scheduled for the end of the lease and says that the job had begun. While the
   * lease is held, it is cancelled or postponed; otherwise its receiver moves it to the dead-letter queue.
   */
  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    return this.#forEach(tokens, async (job) => {
      if (job.begun !== null) return true
      const begun = await this.#schedule(job, job.expiresAt)
      if (!(await this.#deps.back.remove(job))) {
        await begun.entity.cancel(begun.number)
        return false
      }
      job.begun = begun
      return true
    })
  }

  /** Renews locks that end before their leases do, each when half of its time has passed. */
  watch(): void {
    this.#timer?.cancel()
    if (this.#isClosed) return
    const { clock, held } = this.#deps
    const ends = held.outliving().map(({ lockedUntil }) => lockedUntil)
    if (ends.length === 0) return
    const leftMs = ends.reduce((least, end) => Math.min(least, end)) - clock.now()
    this.#timer = clock.timer(Math.max(leftMs / 2, shortestPauseMs), () => void this.#renewLocks(), { unref: true })
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  async #renewLocks(): Promise<void> {
    const { held } = this.#deps
    // Failed renewals are retried with the next timer; a lost lock is noticed at the next heartbeat.
    await Promise.allSettled(held.outliving().map((job) => this.#renewLock(job)))
    this.watch()
  }

  async #keepLocked(job: HeldJob, until: number): Promise<boolean> {
    const isCovered = job.lockedUntil >= until
    const isKept = isCovered || (await this.#renewLock(job))
    this.watch()
    return isKept
  }

  async #renewLock(job: HeldJob): Promise<boolean> {
    const lockedUntil = await job.entity.renew(job.message)
    if (lockedUntil === null) {
      this.#deps.held.take(job.token)
      return false
    }
    job.lockedUntil = lockedUntil
    return true
  }

  async #postpone(job: HeldJob, at: number): Promise<boolean> {
    const before = job.begun
    const next = await this.#schedule(job, at)
    if (before !== null && !(await before.entity.cancel(before.number))) {
      await next.entity.cancel(next.number)
      return false
    }
    job.begun = next
    return true
  }

  async #schedule(job: HeldJob, at: number): Promise<NonNullable<HeldJob['begun']>> {
    const { queue, priority } = job.envelope
    const entity = this.#deps.entityOf(queue, priority)
    const state = { ...job.state, rescues: job.rescues, deliveries: 0, copy: job.state.copy + 1, begun: job.owner }
    const [number] = await entity.schedule([toMessage(job.envelope, state)], at)
    return { entity, number: number as NonNullable<typeof number> }
  }

  async #forEach(tokens: readonly string[], keep: (job: HeldJob) => Promise<boolean>): Promise<readonly SettleReceipt[]> {
    const { held } = this.#deps
    return Promise.all(
      tokens.map(async (token) => {
        const job = held.get(token)
        if (job === undefined) return 'lost'
        if (await keep(job)) return 'applied'
        held.take(token)
        return 'lost'
      }),
    )
  }
}
