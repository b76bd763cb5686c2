import type { Envelope } from '../../envelope/envelope.ts'
import { BackendCalls } from '../../queue/backend/calls.ts'
import { Watchers } from '../../queue/backend/watchers.ts'
import type { Backlog } from '../../queue/contract/backlog.ts'
import type {
  LeaseBatch,
  LeaseRequest,
  QueueBackend,
  ReapReport,
  SendReceipt,
  Settlement,
  SettleReceipt,
  Watch,
} from '../../queue/contract/contract.ts'
import { Claiming } from './claiming.ts'
import type { ServiceBusClientLike } from './connections/client.ts'
import { Entity } from './connections/entity.ts'
import { EntityNames } from './connections/entity-names.ts'
import type { ServiceBusConfig } from './connections/options.ts'
import { DeadLetters } from './dead-letters.ts'
import { EntityCounts } from './entity-counts.ts'
import { HandingBack } from './handing-back.ts'
import { HeldJobs } from './messages/held-jobs.ts'
import { SetAside } from './messages/set-aside.ts'
import { Renewing } from './renewing.ts'
import { sendAll } from './sending.ts'
import { Settling } from './settling.ts'

/** A queue in an Azure Service Bus namespace. It has no `store`, because Service Bus cannot query or change waiting jobs. */
export class ServiceBusBackend implements QueueBackend {
  readonly kind = 'service-bus'
  readonly largestClaim = 500
  readonly deadLetters: DeadLetters
  readonly backlog: Backlog
  readonly #config: ServiceBusConfig
  readonly #client: ServiceBusClientLike
  readonly #names: EntityNames
  readonly #entities = new Map<string, Entity>()
  readonly #deadEntities = new Map<string, Entity>()
  readonly #watchers = new Watchers()
  readonly #aside: SetAside
  readonly #renewing: Renewing
  readonly #claiming: Claiming
  readonly #settling: Settling
  readonly #calls = new BackendCalls('service-bus')
  #closing: Promise<void> | undefined

  constructor(config: ServiceBusConfig, client: ServiceBusClientLike) {
    const { clock, logger, maxDeliveryCount } = config
    this.#config = config
    this.#client = client
    this.#names = new EntityNames(config)
    const names = this.#names
    const held = new HeldJobs()
    const entity = (name: string) => this.#entity(name)
    const entityOf = (queue: string, priority: number) => this.#entity(this.#names.of(queue, priority))
    const deadLettersOf = (name: string) => this.#deadEntity(name)
    const back = new HandingBack({ entityOf, clock, logger, maxDeliveryCount })
    this.#aside = new SetAside({ clock, logger, back })
    this.#renewing = new Renewing({ clock, held, back, entityOf })
    this.#claiming = new Claiming({ clock, names, entity, held, back, aside: this.#aside })
    this.#settling = new Settling({ clock, held, back })
    this.deadLetters = new DeadLetters({ clock, names, entityOf, deadLettersOf })
    const entityCounts = new EntityCounts({ clock, names, entity, deadLettersOf })
    this.backlog = { counts: () => this.#calls.run(() => entityCounts.counts()) }
  }

  /** Throws unless all configured queues exist and can be sent to. */
  async check(): Promise<void> {
    await Promise.all(this.#names.known.map((name) => this.#entity(name).check()))
  }

  send(envelopes: readonly Envelope[]): Promise<readonly SendReceipt[]> {
    return this.#calls.run(async () => {
      const { clock, uniqueKeys } = this.#config
      const entityOf = ({ queue, priority }: Envelope) => this.#entity(this.#names.of(queue, priority))
      const receipts = await sendAll(envelopes, { entityOf, uniqueKeys, now: clock.now() })
      if (envelopes.length > 0) this.#watchers.notify()
      return receipts
    })
  }

  lease(request: LeaseRequest): Promise<LeaseBatch> {
    return this.#calls.run(async () => {
      await this.#settling.reap(request.maxRescues)
      const batch = await this.#claiming.claim(request)
      this.#renewing.watch()
      return batch
    })
  }

  settle(settlements: readonly Settlement[]): Promise<readonly SettleReceipt[]> {
    return this.#calls.run(async () => {
      const receipts = await this.#settling.settle(settlements)
      if (settlements.some(({ kind }) => kind !== 'done')) this.#watchers.notify()
      return receipts
    })
  }

  begin(tokens: readonly string[]): Promise<readonly SettleReceipt[]> {
    return this.#calls.run(() => this.#renewing.begin(tokens))
  }

  extend(tokens: readonly string[], leaseMs: number, alone = false): Promise<readonly SettleReceipt[]> {
    return this.#calls.run(() => this.#renewing.extend(tokens, leaseMs, alone))
  }

  reap(maxRescues: number, deadOwners: readonly string[] = []): Promise<ReapReport> {
    return this.#calls.run(() => this.#settling.reap(maxRescues, deadOwners))
  }

  /** Not pushed: jobs of other programs are found by polling. */
  watch(wake: () => void): Watch {
    return { ...this.#watchers.watch(wake), isPush: false }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#watchers.close()
    this.#renewing.close()
    await this.#calls.close()
    await this.#aside.close()
    await Promise.allSettled([...this.#entities.values(), ...this.#deadEntities.values()].map((entity) => entity.close()))
    if (this.#config.client === null) await this.#client.close()
  }

  #entity(name: string): Entity {
    const found = this.#entities.get(name) ?? new Entity(this.#client, name)
    this.#entities.set(name, found)
    return found
  }

  #deadEntity(name: string): Entity {
    const found = this.#deadEntities.get(name) ?? new Entity(this.#client, name, 'deadLetter')
    this.#deadEntities.set(name, found)
    return found
  }
}
