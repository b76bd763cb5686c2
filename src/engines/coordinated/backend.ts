import { TreadleError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import { largestClaimOf } from '../../queue/backend/largest-claim.ts'
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
  StandIn,
  StandInRequest,
  Transactions,
  Watch,
  WholeBackend,
} from '../../queue/contract/contract.ts'
import type { JobStore } from '../../queue/contract/store.ts'
import type { Transfer } from '../../queue/contract/transfer.ts'
import type { Upkeep } from '../../queue/contract/upkeep.ts'
import { earliest } from '../../queue/time/earliest.ts'
import { BrokerBacklog } from './broker-backlog.ts'
import { Intake, type IntakeDeps } from './intake.ts'
import { dependenciesOutside, routed } from './routing.ts'
import { coordinatedStore } from './store.ts'
import { coordinatedTransfer } from './transfer.ts'

/** `broker` carries due jobs to the next worker; `store` keeps waiting jobs, and every job from its first claim on. */
export type CoordinatedConfig = IntakeDeps

/**
 * A broker combined with a coordination store. Each job is in one of the two: the broker holds jobs that are due and depend on
 * nothing, and hands them over when a worker asks for jobs. The store handles claims, leases, limits, keys, job endings and
 * records.
 */
export class CoordinatedBackend implements QueueBackend {
  readonly kind: string
  readonly largestClaim: number
  readonly recordsFrom = 'claim'
  readonly now?: () => number
  readonly standIn?: (request: StandInRequest) => StandIn
  readonly store: JobStore
  readonly coordination: Coordination
  readonly transactions?: Transactions
  readonly patterns?: PatternClaims
  readonly upkeep?: Upkeep
  readonly transfer?: Transfer
  readonly #broker: QueueBackend
  readonly #store: WholeBackend
  readonly #clock: Clock
  readonly #intake: Intake
  readonly #backlog: BrokerBacklog
  #closing: Promise<void> | undefined

  constructor(config: CoordinatedConfig) {
    const { broker, store, clock, logger } = config
    this.#broker = broker
    this.#store = store
    this.#clock = clock
    this.#intake = new Intake(config)
    this.kind = `${broker.kind}+${store.kind}`
    this.largestClaim = Math.min(largestClaimOf(broker), largestClaimOf(store))
    this.#backlog = new BrokerBacklog({ broker, intake: this.#intake, largestClaim: this.largestClaim, logger })
    this.store = coordinatedStore(store.store, this.#backlog)
    this.coordination = store.coordination
    const { transactions, patterns, upkeep, transfer } = store
    if (store.now !== undefined) this.now = store.now.bind(store)
    if (store.standIn !== undefined) this.standIn = store.standIn.bind(store)
    if (transactions !== undefined) this.transactions = transactions
    if (patterns !== undefined) this.patterns = { readyOf: (jobs) => this.#readyOf(jobs, patterns) }
    if (upkeep !== undefined) this.upkeep = upkeep
    if (transfer !== undefined) this.transfer = coordinatedTransfer(transfer, this.#backlog)
  }

  /**
   * Writes to the store first: if it refuses, nothing was sent. A job that is sent again after a failure keeps its id, which
   * identifies it.
   */
  async send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    const { carried, kept } = routed(envelopes, this.#now())
    if (kept.length === 0) return this.#broker.send(carried)
    await this.#refuseUnseen(kept)
    const receipts = [await this.#store.send(kept), carried.length === 0 ? [] : await this.#broker.send(carried)]
    const isKept = new Set(kept)
    const [ofKept, ofCarried] = receipts.map((each) => each.values())
    return envelopes.map((envelope) => (isKept.has(envelope) ? ofKept : ofCarried)?.next().value as SendReceipt)
  }

  /**
   * Takes jobs over from the broker first, so that the claim picks the best of all jobs. If the broker is unreachable, jobs in
   * the store can still be claimed.
   */
  async lease(request: LeaseRequest): Promise<LeaseBatch> {
    const taken = await this.#intake.take(request)
    const batch = await this.#store.lease(request)
    const { leases, nextAt } = batch
    if (taken.failure !== undefined && leases.length === 0) throw taken.failure
    return leases.length === request.limit ? batch : { ...batch, nextAt: earliest([nextAt, taken.nextAt]) }
  }

  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    return this.#store.settle(settlements)
  }

  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    return this.#store.begin(tokens)
  }

  extend(tokens: readonly string[], leaseMs: number, alone?: boolean): Promise<readonly SettleReceipt[]> {
    return this.#store.extend(tokens, leaseMs, alone)
  }

  async reap(maxRescues: number, deadOwners?: readonly string[]): Promise<ReapReport> {
    await this.#broker.reap(maxRescues, deadOwners)
    return this.#store.reap(maxRescues, deadOwners)
  }

  watch(wake: () => void): Watch {
    const watches = [this.#broker.watch(wake), this.#store.watch(wake)]
    return {
      get isPush() {
        return watches.every(({ isPush }) => isPush)
      },
      close: () => {
        for (const each of watches) each.close()
      },
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Closes the broker first: calls in progress there may still need the store. */
  async #close(): Promise<void> {
    try {
      await this.#broker[Symbol.asyncDispose]()
    } finally {
      await this.#store[Symbol.asyncDispose]()
    }
  }

  async #readyOf(jobs: readonly string[], patterns: PatternClaims): Promise<readonly string[]> {
    await this.#intake.take({ queues: null, limit: this.largestClaim, owner: 'server' })
    return patterns.readyOf(jobs)
  }

  /** A job that waits for a nonexistent job fails. This must not happen to one whose dependency is still in the broker. */
  async #refuseUnseen(kept: readonly Envelope[]): Promise<void> {
    for (const id of dependenciesOutside(kept)) {
      if ((await this.store.get(id)) !== null || !(await this.#backlog.mayHold())) continue
      throw new TreadleError('CAPABILITY_MISSING', unseen(id, this.kind))
    }
  }

  #now(): number {
    return this.now?.() ?? this.#clock.now()
  }
}

function unseen(id: string, kind: string): string {
  return `A job cannot wait for ${id}, which the coordination store of ${kind} does not know: it was never sent, or it is one of many jobs that the broker holds until a worker claims them. Dispatch both in one workflow: jobs.workflow(…)`
}
