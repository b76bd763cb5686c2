import { randomToken } from '../../../core/id.ts'
import type { Envelope } from '../../../envelope/envelope.ts'
import type { Lease, LeaseBatch, LeaseRequest, ReapReport, Settlement, SettleReceipt } from '../../contract/contract.ts'
import { type FinalState, isFinal } from '../../contract/job-state.ts'
import { earliest } from '../../time/earliest.ts'
import { ClaimScope } from '../claiming/claim-scope.ts'
import { rescueOf, rescueText } from '../claiming/rescue.ts'
import type { OnceKeys } from '../keys/once-keys.ts'
import type { ClaimState, Limits } from '../limits/limits.ts'
import type { Endings, Waiter } from '../workflows/endings.ts'
import { amended, type StoredJob, unresulted, withError } from './job.ts'
import type { Changes, Jobs } from './jobs.ts'

export interface LeasesParts {
  readonly jobs: Jobs
  readonly once: OnceKeys
  readonly limits: Limits
  readonly endings: Endings
  /** Creates the token for a lease of this job: random text, unless the engine must find the job by its token. */
  readonly newToken?: ((id: string) => string) | undefined
}

/** Claims, and every way in which a claim ends. */
export class Leases {
  readonly #jobs: Jobs
  readonly #once: OnceKeys
  readonly #limits: Limits
  readonly #endings: Endings
  readonly #newToken: (id: string) => string
  readonly #cancelRequested = new Set<StoredJob>()

  constructor({ jobs, once, limits, endings, newToken = randomToken }: LeasesParts) {
    this.#newToken = newToken
    this.#jobs = jobs
    this.#endings = endings
    this.#once = once
    this.#limits = limits
  }

  lease(request: LeaseRequest, paused: ReadonlySet<string>, now: number): LeaseBatch {
    this.reap(request.maxRescues, now)
    this.#endings.giveUp(now)
    this.promote(now)
    this.#jobs.lanes.groups.release(now)
    const claim = this.#limits.begin(request, paused, now)
    const leases = this.claim(request, claim)
    return { leases, nextAt: this.#nextAt(claim.nextTokenAt), cancelled: this.#cancelledOf(request.owner) }
  }

  /** Makes scheduled jobs ready when their time has come. */
  promote(now: number): void {
    const { scheduled } = this.#jobs
    for (let job = scheduled.peek(); job !== undefined && job.runAt <= now; job = scheduled.peek()) this.#jobs.move(job, 'ready')
  }

  reap(maxRescues: number, now: number): ReapReport {
    let returned = 0
    let poisoned = 0
    for (let job = this.#jobs.leased.peek(); job !== undefined && job.leaseExpiresAt <= now; job = this.#jobs.leased.peek()) {
      if (this.#rescue(job, maxRescues, now)) returned++
      else if (job.reason === 'poisoned') poisoned++
    }
    return { returned, poisoned }
  }

  /** Adjusts to a clock that was set: leases keep as much time as they had before. */
  move(byMs: number): void {
    for (const job of this.#jobs.leased.items) {
      job.leaseExpiresAt += byMs
      job.startedAt = job.startedAt === null ? null : job.startedAt + byMs
    }
    this.#jobs.lanes.groups.move(byMs)
    this.#limits.rates.move(byMs)
  }

  /** Ends all leases of these owners now. */
  expire(owners: readonly string[], now: number): void {
    for (const job of this.heldBy(owners)) this.#setExpiry(job, now)
  }

  /** Which of these jobs are running, in the order of their claims. */
  heldOf(ids: readonly string[]): readonly StoredJob[] {
    const wanted = new Set(ids)
    return [...this.#jobs.running].filter(({ envelope }) => wanted.has(envelope.id))
  }

  /** In the order of their claims. */
  heldBy(owners: readonly string[]): readonly StoredJob[] {
    return owners.length === 0 ? [] : [...this.#jobs.running].filter(({ owner }) => owners.includes(owner as string))
  }

  begin(token: string): SettleReceipt {
    const job = this.#jobs.byToken(token)
    if (job === undefined) return 'lost'
    job.begun = true
    return 'applied'
  }

  extend(token: string, until: number, alone: boolean): SettleReceipt {
    const job = this.#jobs.byToken(token)
    if (job === undefined) return 'lost'
    if (alone) job.amongOthers = false
    this.#setExpiry(job, until)
    return 'applied'
  }

  requestCancel(job: StoredJob): void {
    job.cancelRequested = true
    this.#cancelRequested.add(job)
  }

  /** `mayWake`: whether the settlement may have made work claimable. */
  settle(settlement: Settlement, now: number): { receipt: SettleReceipt; mayWake: boolean } {
    const job = this.#jobs.byToken(settlement.token)
    if (job === undefined) return { receipt: 'lost', mayWake: false }
    if (settlement.kind === 'done' && settlement.unlinked === true && this.#endings.isLinked(job)) {
      return { receipt: 'unsealed', mayWake: false }
    }
    const { envelope } = job
    const receipt = this.#apply(job, settlement, now)
    return { receipt, mayWake: this.#limits.freed(envelope) || job.state === 'ready' }
  }

  #apply(job: StoredJob, settlement: Settlement, now: number): SettleReceipt {
    if (settlement.kind === 'done' || settlement.kind === 'wait') {
      const receipt = this.#leave(job, settlement, now)
      if (receipt !== null) return receipt
    }
    switch (settlement.kind) {
      case 'done':
        this.#end(job, 'succeeded', settlement.keep, now, { result: settlement.result, seal: settlement.seal ?? null })
        if (settlement.once !== undefined) this.#once.keep(settlement.once, settlement.result, now)
        break
      case 'retry':
        return this.#putBack(job, now + settlement.delayMs, now, { errors: withError(job, settlement.error) })
      case 'snooze':
        return this.#putBack(job, settlement.delayMs > 0 ? now + settlement.delayMs : job.runAt, now, {
          attempts: job.attempts - 1,
        })
      case 'dead':
        this.#end(job, 'dead', settlement.keep, now, { reason: settlement.reason, errors: withError(job, settlement.error) })
        break
      case 'cancelled':
        this.#end(job, 'cancelled', settlement.keep, now, {})
        break
      case 'skipped':
        this.#end(job, 'skipped', settlement.keep, now, {
          reason: settlement.why,
          result: settlement.result ?? null,
          seal: settlement.seal ?? null,
          attempts: job.attempts - 1,
        })
        break
      case 'wait':
        return this.#putBack(job, job.runAt, now, { attempts: job.attempts - 1 })
      case 'again':
        return this.#again(job, settlement.envelope, now)
    }
    return 'applied'
  }

  #again(job: StoredJob, envelope: Envelope, now: number): SettleReceipt {
    if (job.cancelRequested) return this.#putBack(job, job.runAt, now, {})
    const changes = { attempts: 0, rescues: 0, ...unresulted, progress: null }
    return this.#putBack(job, envelope.runAt, now, { ...changes, envelope: amended(job.envelope, envelope) })
  }

  /** Lets a job's children decide its end once its handler has finished. Null if they leave it to the settlement. */
  #leave(job: StoredJob, settlement: Extract<Settlement, { kind: 'done' | 'wait' }>, now: number): SettleReceipt | null {
    const { links } = job
    if (links === null) return null
    const isDone = settlement.kind === 'done'
    if (links.doom === null && links.pending === 0) return null
    if (isDone && settlement.alone === true && links.pending > 0) return 'blocked'
    if (job.cancelRequested) {
      this.#end(job, 'cancelled', true, now, isDone ? {} : { attempts: job.attempts - 1 })
      return 'cancelled'
    }
    if (links.doom !== null) {
      this.#endings.failFor(job as Waiter, links.doom)
      return 'failed'
    }
    links.givesUpAt = now + links.longestWaitMs
    links.ending = isDone ? { keep: settlement.keep, once: settlement.once ?? null } : null
    this.#jobs.move(job, 'blocked', {
      token: null,
      ...(isDone ? { result: settlement.result, seal: settlement.seal ?? null } : { attempts: job.attempts - 1 }),
    })
    return isDone ? 'blocked' : 'applied'
  }

  /** Claims from the jobs that are ready now. */
  claim(request: LeaseRequest, claim: ClaimState): readonly Lease[] {
    const { lanes } = this.#jobs
    const leases: Lease[] = []
    const scope = new ClaimScope(lanes, request, claim)
    for (let lane = scope.best(); lane !== undefined && leases.length < request.limit; lane = scope.best()) {
      const mayStart = this.#limits.mayStart(lane, claim)
      // The lane may have moved, now that groups without tokens are left out.
      if (scope.best() !== lane) continue
      if (mayStart) leases.push(this.#start(lane.head as StoredJob, request, claim))
      else scope.passOver(lane)
    }
    scope.close()
    return leases
  }

  #start(job: StoredJob, { owner, leaseMs, amongOthers = false }: LeaseRequest, claim: ClaimState): Lease {
    const { now } = claim
    this.#limits.take(job, claim)
    this.#jobs.lanes.serve(job)
    const token = this.#newToken(job.envelope.id)
    const expiresAt = now + leaseMs
    const attempt = job.attempts + 1
    this.#jobs.move(job, 'running', { token, owner, leaseExpiresAt: expiresAt, attempts: attempt, startedAt: now, amongOthers })
    const envelope = job.runAt === job.envelope.runAt ? job.envelope : { ...job.envelope, runAt: job.runAt }
    return { token, envelope, attempt, rescues: job.rescues, expiresAt, linked: this.#endings.isLinked(job) }
  }

  #setExpiry(job: StoredJob, expiresAt: number): void {
    this.#jobs.leased.remove(job)
    job.leaseExpiresAt = expiresAt
    this.#jobs.leased.add(job)
  }

  /** Gives the attempt back, because the worker failed and not the job. False if the job ended instead. */
  #rescue(job: StoredJob, maxRescues: number, now: number): boolean {
    const rescues = job.rescues + 1
    const rescue = rescueOf(job, rescues, maxRescues)
    if (job.cancelRequested) this.#end(job, 'cancelled', true, now, { rescues })
    else if (rescue === 'returned') {
      this.#endLease(job, job.runAt > now ? 'scheduled' : 'ready', { rescues, attempts: job.attempts - 1 })
    } else {
      const error = { attempt: job.attempts, at: now, message: rescueText(rescue, job.owner, rescues) }
      this.#end(job, 'dead', true, now, { rescues, reason: rescue, errors: withError(job, error) })
    }
    return !isFinal(job.state)
  }

  /** A job that was asked to stop ends here instead of going back to the queue. */
  #putBack(job: StoredJob, runAt: number, now: number, changes: Changes): SettleReceipt {
    if (job.cancelRequested) {
      this.#end(job, 'cancelled', true, now, changes)
      return 'cancelled'
    }
    // `begun` belongs to the lease, which has ended.
    this.#endLease(job, runAt > now ? 'scheduled' : 'ready', { ...changes, begun: false, runAt })
    return 'applied'
  }

  #end(job: StoredJob, state: FinalState, keep: boolean, now: number, changes: Changes): void {
    this.#endLease(job, state, { ...changes, finishedAt: now })
    if (!keep) this.#jobs.delete(job)
  }

  #endLease(job: StoredJob, state: FinalState | 'ready' | 'scheduled', changes: Changes): void {
    this.#once.release(job)
    this.#cancelRequested.delete(job)
    this.#jobs.move(job, state, { ...changes, token: null, cancelRequested: false })
  }

  #nextAt(nextTokenAt: number | null): number | null {
    const { scheduled, leased, blocked, lanes } = this.#jobs
    const [dueAt, expiresAt, givesUpAt] = [
      scheduled.peek()?.runAt,
      leased.peek()?.leaseExpiresAt,
      blocked.peek()?.links?.givesUpAt,
    ]
    return earliest([dueAt, expiresAt, givesUpAt, lanes.groups.nextRelease, nextTokenAt])
  }

  #cancelledOf(owner: string): readonly string[] {
    return [...this.#cancelRequested].filter((job) => job.owner === owner).map((job) => job.token as string)
  }
}
