import type { Clock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import { closedError } from '../../queue/backend/calls.ts'
import { Watchers } from '../../queue/backend/watchers.ts'
import type {
  Coordination,
  LeaseBatch,
  LeaseRequest,
  PatternClaims,
  QueueBackend,
  ReapReport,
  SendReceipt,
  Settlement,
  SettleReceipt,
  Watch,
  WholeBackend,
} from '../../queue/contract/contract.ts'
import type { Transfer } from '../../queue/contract/transfer.ts'
import { type Rules, rulesOver } from '../../queue/rules/assembly.ts'
import { ClockJumps } from '../../queue/time/clock-jumps.ts'
import { MemoryEvents } from './events.ts'
import { guarded, type Immediate } from './guarded.ts'
import { Locks } from './keys/locks.ts'
import { MemoryNumbers } from './keys/numbers.ts'
import { MemoryLogs } from './logs.ts'
import { MemoryRollups } from './rollups.ts'
import { MemoryStore } from './store.ts'
import { MemoryTransfer } from './transfer/transfer.ts'
import { MemoryWorkers } from './workers.ts'

/** The whole contract in this process's memory: for tests, and for work that may be lost when the process ends. */
export class MemoryBackend implements QueueBackend {
  readonly kind = 'memory'
  readonly store: WholeBackend['store']
  readonly coordination: Coordination
  readonly transfer: Transfer
  readonly patterns: PatternClaims
  readonly #clock: Clock
  readonly #jumps: ClockJumps
  readonly #rules: Rules
  readonly #locks = new Locks()
  readonly #watchers = new Watchers()
  readonly #workers: MemoryWorkers
  readonly #events: MemoryEvents
  readonly #paused = new Set<string>()
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#jumps = new ClockJumps(clock)
    const checkOpen = () => this.#checkOpen()
    const rules = rulesOver({}, clock, this.#watchers)
    const { jobs, once } = rules
    this.#rules = rules
    this.#workers = new MemoryWorkers(clock)
    this.#events = new MemoryEvents(clock)
    const shared = { ...rules, clock, watchers: this.#watchers, paused: this.#paused }
    const kept = { numbers: new MemoryNumbers(jobs), logs: new MemoryLogs(jobs) }
    const others = { workers: this.#workers, rollups: new MemoryRollups(clock), events: this.#events }
    this.store = guarded<WholeBackend['store']>(new MemoryStore({ ...shared, ...kept, ...others }), checkOpen)
    this.transfer = guarded<Transfer>(new MemoryTransfer({ ...shared, ...kept }), checkOpen)
    const readyOf = (names: readonly string[]) => [...new Set(names)].filter((job) => jobs.lanes.ofJob(job) !== undefined)
    this.patterns = guarded<PatternClaims>({ readyOf }, checkOpen)
    const coordination: Immediate<Coordination> = {
      claimOnce: (key, jobId) => once.claim(key, jobs.get(jobId), clock.now()),
      lock: (name, holder, ttlMs) => this.#locks.lock(name, holder, ttlMs, clock.now()),
      unlock: (name, owner) => this.#locks.unlock(name, owner, clock.now()),
    }
    this.coordination = guarded<Coordination>(coordination, checkOpen)
  }

  async send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    this.#checkOpen()
    const now = this.#clock.now()
    const plannedAt = this.#rules.jobs.scheduled.peek()?.runAt ?? Number.POSITIVE_INFINITY
    const receipts = this.#rules.linking.send(envelopes)
    // A worker sleeps until the next due time it knows of, so it must be woken for anything due earlier.
    if (envelopes.some(({ runAt }, index) => receipts[index]?.stored && (runAt <= now || runAt < plannedAt)))
      this.#watchers.notify()
    return receipts
  }

  async lease(request: LeaseRequest): Promise<LeaseBatch> {
    this.#checkOpen()
    return this.#rules.leases.lease(request, this.#paused, this.#clock.now())
  }

  async settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    this.#checkOpen()
    const now = this.#clock.now()
    const settled = settlements.map((settlement) => this.#rules.leases.settle(settlement, now))
    if (settled.some(({ mayWake }) => mayWake)) this.#watchers.notify()
    return settled.map(({ receipt }) => receipt)
  }

  async begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    this.#checkOpen()
    return tokens.map((token) => this.#rules.leases.begin(token))
  }

  async extend(tokens: readonly string[], leaseMs: number, alone = false): Promise<readonly SettleReceipt[]> {
    this.#checkOpen()
    const now = this.#clock.now()
    return tokens.map((token) => this.#rules.leases.extend(token, now + leaseMs, alone))
  }

  async reap(maxRescues: number, deadOwners: readonly string[] = []): Promise<ReapReport> {
    this.#checkOpen()
    const now = this.#clock.now()
    this.#rules.leases.expire(deadOwners, now)
    const report = this.#rules.leases.reap(maxRescues, now)
    if (report.returned > 0) this.#watchers.notify()
    return report
  }

  watch(wake: () => void): Watch {
    this.#checkOpen()
    return this.#watchers.watch(wake)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#watchers.close()
  }

  #checkOpen(): void {
    if (this.#closed) throw closedError('memory')
    const jump = this.#jumps.look()
    if (jump === null) return
    this.#rules.leases.move(jump.byMs)
    this.#locks.move(jump.byMs)
    this.#workers.move(jump.byMs)
    this.#events.move(jump.byMs)
  }
}
