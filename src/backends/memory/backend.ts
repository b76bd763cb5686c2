import type { Clock } from '../../core/clock.ts'
import { TreadleError } from '../../core/errors.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import { ClockJumps } from '../clock-jumps.ts'
import type {
  Coordination,
  LeaseBatch,
  LeaseRequest,
  LockAnswer,
  LockHolder,
  OnceClaim,
  QueueBackend,
  ReapReport,
  SendReceipt,
  Settlement,
  SettleReceipt,
  Watch,
} from '../contract.ts'
import { Watchers } from '../watchers.ts'
import { Edges } from './edges.ts'
import { Endings } from './endings.ts'
import { Jobs } from './jobs.ts'
import { Leases } from './leases.ts'
import { Limits } from './limits.ts'
import { Linking } from './linking.ts'
import { Locks } from './locks.ts'
import { MemoryNumbers } from './numbers.ts'
import { OnceKeys } from './once-keys.ts'
import { MemorySchedules } from './schedules.ts'
import { MemoryStore } from './store.ts'
import { Trees } from './trees.ts'
import { MemoryWorkers } from './workers.ts'

/** Everything of the contract, in this process's memory: for tests, and for work that may be lost when the process ends. */
export class MemoryBackend implements QueueBackend {
  readonly kind = 'memory'
  readonly store: MemoryStore
  readonly coordination: Coordination
  readonly #clock: Clock
  readonly #jumps: ClockJumps
  readonly #jobs = new Jobs()
  readonly #once = new OnceKeys()
  readonly #locks = new Locks()
  readonly #limits = new Limits(this.#jobs)
  readonly #watchers = new Watchers()
  readonly #linking: Linking
  readonly #leases: Leases
  readonly #workers: MemoryWorkers
  readonly #paused = new Set<string>()
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#jumps = new ClockJumps(clock)
    const jobs = this.#jobs
    const edges = new Edges()
    const trees = new Trees(jobs, edges)
    const endings = new Endings({ clock, jobs, edges, trees, once: this.#once, watchers: this.#watchers })
    this.#linking = new Linking({ clock, jobs, trees, endings })
    this.#leases = new Leases({ jobs, once: this.#once, limits: this.#limits, endings })
    const shared = { clock, jobs, watchers: this.#watchers, checkOpen: () => this.#checkOpen() }
    const schedules = new MemorySchedules(shared)
    this.#workers = new MemoryWorkers(shared)
    const numbers = new MemoryNumbers(shared)
    this.store = new MemoryStore({
      ...shared,
      leases: this.#leases,
      limits: this.#limits,
      trees,
      linking: this.#linking,
      endings,
      paused: this.#paused,
      schedules,
      workers: this.#workers,
      numbers,
    })
    this.coordination = {
      claimOnce: (key, jobId) => this.#claimOnce(key, jobId),
      sweepKeys: (limit) => this.#sweepKeys(limit),
      lock: (name, holder, ttlMs) => this.#lock(name, holder, ttlMs),
      unlock: (name, owner) => this.#unlock(name, owner),
    }
  }

  async send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    this.#checkOpen()
    const now = this.#clock.now()
    const plannedAt = this.#jobs.scheduled.peek()?.runAt ?? Number.POSITIVE_INFINITY
    const receipts = this.#linking.send(envelopes)
    // A worker sleeps until what it was told falls due next: it must hear of anything that comes before that.
    if (envelopes.some(({ runAt }, index) => receipts[index]?.stored && (runAt <= now || runAt < plannedAt)))
      this.#watchers.notify()
    return receipts
  }

  async lease(request: LeaseRequest): Promise<LeaseBatch> {
    this.#checkOpen()
    return this.#leases.lease(request, this.#paused, this.#clock.now())
  }

  async settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    this.#checkOpen()
    const now = this.#clock.now()
    const settled = settlements.map((settlement) => this.#leases.settle(settlement, now))
    if (settled.some(({ mayWake }) => mayWake)) this.#watchers.notify()
    return settled.map(({ receipt }) => receipt)
  }

  async begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    this.#checkOpen()
    return tokens.map((token) => this.#leases.begin(token))
  }

  async extend(tokens: readonly string[], leaseMs: number, alone = false): Promise<readonly SettleReceipt[]> {
    this.#checkOpen()
    const now = this.#clock.now()
    return tokens.map((token) => this.#leases.extend(token, now + leaseMs, alone))
  }

  async reap(maxRescues: number, deadOwners: readonly string[] = []): Promise<ReapReport> {
    this.#checkOpen()
    const now = this.#clock.now()
    this.#leases.expire(deadOwners, now)
    const report = this.#leases.reap(maxRescues, now)
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

  async #claimOnce(key: string, jobId: string): Promise<OnceClaim> {
    this.#checkOpen()
    return this.#once.claim(key, this.#jobs.get(jobId), this.#clock.now())
  }

  async #sweepKeys(limit: number): Promise<number> {
    this.#checkOpen()
    const now = this.#clock.now()
    return this.#once.sweep(limit, now) + this.#jobs.uniqueKeys.sweep(limit, now)
  }

  async #lock(name: string, holder: LockHolder, ttlMs: number): Promise<LockAnswer> {
    this.#checkOpen()
    return this.#locks.lock(name, holder, ttlMs, this.#clock.now())
  }

  async #unlock(name: string, owner: string): Promise<boolean> {
    this.#checkOpen()
    return this.#locks.unlock(name, owner, this.#clock.now())
  }

  #checkOpen(): void {
    if (this.#closed) throw new TreadleError('BACKEND_CLOSED', 'The memory backend is closed. Open a new one to go on.')
    const jump = this.#jumps.look()
    if (jump === null) return
    this.#leases.move(jump.byMs)
    this.#locks.move(jump.byMs)
    this.#workers.move(jump.byMs)
  }
}
