import assert from 'node:assert/strict'
import { idMaker } from '../../core/id.ts'
import { pause, systemClock } from '../../core/time/clock.ts'
import { type Delivery, type Envelope, type Identity, sealEnvelope } from '../../envelope/envelope.ts'
import type {
  AttemptError,
  Coordination,
  GroupLimits,
  Lease,
  LeaseBatch,
  LeaseRequest,
  QueueBackend,
  Settlement,
  Transactions,
} from '../../queue/contract/contract.ts'
import type { ScheduleStore } from '../../queue/contract/schedule-store.ts'
import type { JobNumbers, JobRecord, JobStore } from '../../queue/contract/store.ts'
import type { EventStore } from '../../queue/contract/stores/event-store.ts'
import type { LogStore } from '../../queue/contract/stores/log-store.ts'
import type { RollupStore } from '../../queue/contract/stores/rollup-store.ts'
import type { ManualClock } from '../manual-clock.ts'

/** The envelope fields that a test sets; the rest are defaults. */
export type Wanted = Partial<Identity & Delivery & { readonly payload: string; readonly delayMs: number }>

/** A fresh backend with helpers for the tests. */
export class Bench {
  readonly clock: ManualClock
  readonly backend: QueueBackend
  readonly #execute: ((sql: string) => Promise<unknown>) | undefined
  readonly #nextId: () => string

  constructor(backend: QueueBackend, clock: ManualClock, execute?: (sql: string) => Promise<unknown>) {
    this.backend = backend
    this.clock = clock
    this.#execute = execute
    this.#nextId = idMaker(() => clock.now())
  }

  get store(): JobStore {
    assert.ok(this.backend.store, 'the backend has no store: declare a gap for this group')
    return this.backend.store
  }

  get numbers(): JobNumbers {
    assert.ok(this.store.numbers, 'the backend numbers no jobs: declare a gap for this group')
    return this.store.numbers
  }

  get logs(): LogStore {
    assert.ok(this.store.logs, 'the backend keeps no logs: declare a gap for this group')
    return this.store.logs
  }

  get rollups(): RollupStore {
    assert.ok(this.store.rollups, 'the backend keeps no statistics: declare a gap for this group')
    return this.store.rollups
  }

  get events(): EventStore {
    assert.ok(this.store.events, 'the backend keeps no events: declare a gap for this group')
    return this.store.events
  }

  get coordination(): Coordination {
    assert.ok(this.backend.coordination, 'the backend has no coordination: declare a gap for this group')
    return this.backend.coordination
  }

  get transactions(): Transactions {
    assert.ok(this.backend.transactions, 'the backend has no transactions: declare a gap for this group')
    return this.backend.transactions
  }

  async execute(sql: string): Promise<void> {
    assert.ok(this.#execute, 'transactions are tested by tables of their own: give the option execute')
    await this.#execute(sql)
  }

  envelope(wanted: Wanted = {}): Envelope {
    const now = this.clock.now()
    const { payload = '{"n":1}', delayMs = 0, createdAt = now, runAt = now + delayMs, ...more } = wanted
    const { uniqueKey = null, uniqueUntil = 'ended', group = null, links = null, number = null, ...identity } = more
    const delivery = { createdAt, runAt, uniqueKey, uniqueUntil, group, links, number }
    return sealEnvelope(this.#identity(identity), payload, delivery, null)
  }

  /** An id for a job or workflow that has not been sent yet. */
  newId(): string {
    return this.#nextId()
  }

  /** Sends one batch, asserts that all of it was stored, and returns the ids. */
  async send(...wanted: readonly Wanted[]): Promise<readonly string[]> {
    const receipts = await this.backend.send(wanted.map((each) => this.envelope(each)))
    assert.ok(
      receipts.every(({ stored }) => stored),
      'every envelope should have been stored',
    )
    return receipts.map(({ id }) => id)
  }

  async sendOne(wanted: Wanted = {}): Promise<string> {
    return (await this.send(wanted))[0] as string
  }

  lease(request: Partial<LeaseRequest> = {}): Promise<LeaseBatch> {
    return this.backend.lease({
      jobs: unlimited('work'),
      queues: null,
      limit: 100,
      leaseMs: 30_000,
      owner: 'worker-1',
      maxRescues: 3,
      ...request,
    })
  }

  async claim(request: Partial<LeaseRequest> = {}): Promise<readonly Lease[]> {
    return (await this.lease(request)).leases
  }

  async claimedIds(request: Partial<LeaseRequest> = {}): Promise<readonly string[]> {
    return (await this.claim(request)).map(({ envelope }) => envelope.id)
  }

  /** Claims the only claimable job. */
  async claimOne(request: Partial<LeaseRequest> = {}): Promise<Lease> {
    const leases = await this.claim(request)
    assert.equal(leases.length, 1, 'exactly one job should have been claimable')
    return leases[0] as Lease
  }

  async assertNothingClaimable(request: Partial<LeaseRequest> = {}): Promise<void> {
    assert.deepEqual(await this.claimedIds(request), [], 'nothing should have been claimable')
  }

  /** Settles and asserts that the settlements were applied. */
  async settle(...settlements: readonly Settlement[]): Promise<void> {
    const receipts = await this.backend.settle(settlements)
    assert.deepEqual(
      receipts,
      settlements.map(() => 'applied'),
    )
  }

  async record(id: string): Promise<JobRecord> {
    const record = await this.store.get(id)
    assert.ok(record, `job ${id} should be stored`)
    return record
  }

  error(attempt: number, message = 'it broke'): AttemptError {
    return { attempt, at: this.clock.now(), message }
  }

  done(lease: Lease, more: Partial<Extract<Settlement, { kind: 'done' }>> = {}): Settlement {
    return { token: lease.token, kind: 'done', result: null, keep: false, ...more }
  }

  retry(lease: Lease, delayMs = 0): Settlement {
    return { token: lease.token, kind: 'retry', delayMs, error: this.error(lease.attempt) }
  }

  snooze(lease: Lease, delayMs = 0): Settlement {
    return { token: lease.token, kind: 'snooze', delayMs }
  }

  dead(lease: Lease, keep = true): Settlement {
    return { token: lease.token, kind: 'dead', reason: 'exhausted', error: this.error(lease.attempt), keep }
  }

  cancelled(lease: Lease, keep = true): Settlement {
    return { token: lease.token, kind: 'cancelled', keep }
  }

  wait(lease: Lease): Settlement {
    return { token: lease.token, kind: 'wait' }
  }

  /** A settlement that puts the job back as given here. */
  again(lease: Lease, wanted: Wanted = {}): Settlement {
    return { token: lease.token, kind: 'again', envelope: this.envelope({ ...wanted, id: lease.envelope.id }) }
  }

  skipped(lease: Lease, keep = true): Settlement {
    return { token: lease.token, kind: 'skipped', why: 'the filter said no', keep }
  }

  /** Every settlement that ends a job. */
  endings(): readonly ((lease: Lease) => Settlement)[] {
    return [
      (lease) => this.done(lease, { keep: true }),
      (lease) => this.done(lease),
      (lease) => this.dead(lease),
      (lease) => this.cancelled(lease),
      (lease) => this.skipped(lease),
    ]
  }

  #identity(wanted: Partial<Identity>): Identity {
    const job = wanted.job ?? 'work'
    return {
      id: this.#nextId(),
      job,
      name: job,
      queue: 'default',
      priority: 5,
      maxRetries: 3,
      timeoutMs: null,
      singleInstance: false,
      idempotencyKey: null,
      meta: {},
      occurrence: null,
      repeat: null,
      ...wanted,
    }
  }
}

export function unlimited(...jobs: readonly string[]): LeaseRequest['jobs'] {
  return jobs.map((job) => ({ job, concurrency: null }))
}

export function limited(job: string, concurrency: number): LeaseRequest['jobs'] {
  return [{ job, concurrency }]
}

/** A lease request in which the jobs of each group share these limits. */
export function byGroup(limits: Partial<GroupLimits> = {}, job = 'work'): LeaseRequest['jobs'] {
  return [{ job, concurrency: null, group: { concurrency: null, rate: null, ...limits } }]
}

export function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

const patienceMs = 20_000
const quickLooks = 100

/**
 * Waits for a condition. Engines that push from another thread or machine need real turns of the event loop, but no fixed time.
 */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const giveUpAt = systemClock.now() + patienceMs
  for (let looks = 0; !condition(); looks++) {
    assert.ok(systemClock.now() < giveUpAt, `waited in vain until ${what}`)
    // Later with pauses, so that the loop does not take the processor from what it waits for.
    await (looks < quickLooks ? new Promise((resolve) => setImmediate(resolve)) : pause(systemClock, 1))
  }
}

/** The revision of the last change to a schedule. */
export async function revisionOf(schedules: Pick<ScheduleStore, 'changes'>): Promise<number> {
  return (await schedules.changes(Number.MAX_SAFE_INTEGER, 1)).revision
}
