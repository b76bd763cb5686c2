import assert from 'node:assert/strict'
import type { Envelope } from '../../src/envelope/envelope.ts'
import type { Settlement } from '../../src/queue/contract/contract.ts'
import { type Ground, pickOf } from './ground.ts'
import { isEnded, type ModelJob } from './model-queue.ts'
import type { How, JobSpec, Operation } from './operations.ts'

/** How leases end, by those who hold them and by those who think that they do. */
export class Settling {
  readonly #ground: Ground

  constructor(ground: Ground) {
    this.#ground = ground
  }

  async settle({ pick, how, delayMs, keep }: Extract<Operation, { op: 'settle' }>): Promise<void> {
    const live = this.#ground.tokens.filter(({ token }) => !this.#ground.crashed.has(token))
    const chosen = pickOf(live, pick)
    if (chosen !== undefined) await this.settleToken(chosen.token, chosen.id, { how, delayMs, keep })
  }

  async settleLate(pick: number): Promise<void> {
    const chosen = pickOf([...this.#ground.tokens], pick)
    if (chosen !== undefined) await this.settleToken(chosen.token, chosen.id, { how: 'done', delayMs: 0, keep: true })
  }

  /** A token that is no longer its job's changes nothing, whoever holds it. */
  async settleToken(
    token: string,
    id: string,
    { how, delayMs, keep }: { readonly how: How; readonly delayMs: number; readonly keep: boolean },
  ): Promise<void> {
    const now = this.#ground.clock.now()
    const job = this.#ground.held({ token, id })
    if (job !== undefined && isUnspecified(job, how)) return
    const settlement = this.#settlement(token, job, how, delayMs, keep)
    const [receipt] = await this.#ground.backend.settle([settlement])
    if (job === undefined) {
      assert.equal(receipt, 'lost', `a stale settlement of ${id}`)
      return
    }
    assert.equal(receipt, this.#apply(job, settlement, now), `${settlement.kind} of ${id}`)
    if (settlement.kind !== 'done' && 'keep' in settlement && !settlement.keep) this.#ground.model.jobs.delete(id)
  }

  async begin(pick: number): Promise<void> {
    const chosen = pickOf(this.#ground.tokens, pick)
    if (chosen === undefined) return
    const job = this.#ground.held(chosen)
    const [receipt] = await this.#ground.backend.begin([chosen.token])
    assert.equal(receipt, job === undefined ? 'lost' : 'applied', `begin of ${chosen.id}`)
    if (job !== undefined) job.isBegun = true
  }

  async extend(pick: number): Promise<void> {
    const chosen = pickOf(this.#ground.tokens, pick)
    if (chosen === undefined) return
    const job = this.#ground.held(chosen)
    const [receipt] = await this.#ground.backend.extend([chosen.token], 2_000)
    assert.equal(receipt, job === undefined ? 'lost' : 'applied', `extension of ${chosen.id}`)
    if (job !== undefined) job.leaseUntil = this.#ground.clock.now() + 2_000
  }

  #settlement(token: string, job: ModelJob | undefined, how: How, delayMs: number, keep: boolean): Settlement {
    const attempt = job?.attempts ?? 1
    const error = { attempt, at: this.#ground.clock.now(), message: 'it broke' }
    const once = job === undefined ? undefined : this.#ground.once.keyOf(job)
    const isLast = job === undefined || job.attempts >= job.maxAttempts || job.isBegun
    switch (how) {
      case 'done':
        return { token, kind: 'done', result: '{"n":1}', keep, ...(once !== undefined && { once: { key: once, keepMs: 3_000 } }) }
      case 'fail':
        return isLast ? { token, kind: 'dead', reason: 'exhausted', error, keep } : { token, kind: 'retry', delayMs, error }
      case 'snooze':
        return { token, kind: 'snooze', delayMs }
      case 'cancelled':
        return { token, kind: 'cancelled', keep }
      case 'skipped':
        return { token, kind: 'skipped', why: 'the filter said no', keep }
      case 'wait':
        return { token, kind: 'wait' }
      case 'again':
        return { token, kind: 'again', envelope: this.#againOf(job, token, delayMs) }
    }
  }

  /** In another place, and a little more urgent. */
  #againOf(job: ModelJob | undefined, token: string, delayMs: number): Envelope {
    const id = job?.id ?? this.#ground.tokens.find((each) => each.token === token)?.id ?? ''
    const other = job === undefined ? {} : { ...job, queue: this.#ground.queueName('b'), priority: job.priority + 1 }
    const runAt = this.#ground.clock.now() + delayMs
    return this.#ground.envelope({ ...this.#ground.newJob(plainJob, []), ...other, id, edges: [], runAt }, null)
  }

  #apply(job: ModelJob, settlement: Settlement, now: number): string {
    switch (settlement.kind) {
      case 'done':
        job.onceMark = settlement.once ?? null
        return this.#finish(job, settlement.keep, now)
      case 'dead':
        this.#ground.model.end(job, 'dead', now)
        return 'applied'
      case 'retry':
        this.#ground.model.putBack(job, now + settlement.delayMs, now)
        return isEnded(job) ? 'cancelled' : 'applied'
      case 'snooze':
        job.attempts--
        this.#ground.model.putBack(job, settlement.delayMs > 0 ? now + settlement.delayMs : job.runAt, now)
        return isEnded(job) ? 'cancelled' : 'applied'
      case 'cancelled':
      case 'skipped':
        if (settlement.kind === 'skipped') job.attempts--
        this.#ground.model.end(job, settlement.kind, now)
        return 'applied'
      case 'wait':
        job.attempts--
        job.onceMark = null
        this.#ground.model.putBack(job, job.runAt, now)
        if (isEnded(job)) return 'cancelled'
        job.state = 'blocked'
        this.#ground.model.settleWaits(job, now)
        if (!isFailed(job)) return 'applied'
        // Its attempt was not in vain: it has failed.
        job.attempts++
        return 'failed'
      case 'again': {
        this.#ground.model.putBack(job, settlement.envelope.runAt, now)
        if (isEnded(job)) return 'cancelled'
        const { queue, priority } = settlement.envelope
        Object.assign(job, { queue, priority, attempts: 0, rescues: 0, isBegun: false })
        return 'applied'
      }
    }
  }

  /** A parent ends with its children. */
  #finish(job: ModelJob, isKept: boolean, now: number): string {
    job.token = null
    job.isDone = true
    job.isKept = isKept
    job.state = 'blocked'
    this.#ground.model.settleWaits(job, now)
    if (job.state === 'blocked') return 'blocked'
    return isFailed(job) ? 'failed' : 'applied'
  }
}

const plainJob: JobSpec = {
  job: 0,
  queue: 'b',
  priority: 0,
  delayMs: 0,
  group: null,
  uniqueKey: null,
  uniqueUntil: 'ended',
  maxAttempts: 1,
  waitsFor: [],
  policy: 'fail',
}

/** A job that has begun for the only time is not put back by its worker; nobody asks what comes of it. */
function isUnspecified(job: ModelJob, how: How): boolean {
  if (job.isBegun && (how === 'snooze' || how === 'wait')) return true
  return job.cancelRequested && job.edges.some(({ isChild }) => isChild) && how === 'done'
}

function isFailed({ state }: ModelJob): boolean {
  return state === 'dead'
}
