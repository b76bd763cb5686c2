import { ServiceBusClient } from '@azure/service-bus'
import { silentLogger } from '../../src/core/logger.ts'
import { type Clock, systemClock } from '../../src/core/time/clock.ts'
import { openServiceBus } from '../../src/engines/service-bus/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { ServiceBusBroker } from './broker/broker.ts'
import { emptied } from './emptying.ts'
import { namespaceUrl } from './namespace.ts'

/** Longer than any lease of the suite: what happens when locks end is tested by itself. */
const lockMs = 300_000

/**
 * One broker and one connection for all tests of the suite, and fresh queues for each. Where the environment names a namespace, all
 * queues share one of its entities, which is emptied before each test.
 */
export class ConformanceGround {
  readonly #broker = new ServiceBusBroker({ settings: { lockMs, maxDeliveryCount: 100 } })
  #client: ServiceBusClient | undefined
  #tests = 0

  async start(): Promise<void> {
    if (namespaceUrl === null) await this.#broker.start()
    this.#client = new ServiceBusClient(namespaceUrl === null ? this.#broker.connectionString() : namespaceUrl.connectionString)
  }

  async stop(): Promise<void> {
    await this.#client?.close()
    await this.#broker[Symbol.asyncDispose]()
  }

  async open(clock: Clock): Promise<QueueBackend> {
    const client = this.#client as ServiceBusClient
    const common = { client, logger: silentLogger, uniqueKeys: 'carried', maxDeliveryCount: 100 } as const
    if (namespaceUrl !== null) {
      const { entity } = namespaceUrl
      await emptied(client, entity)
      return openServiceBus({ ...common, clock: systemClock, entityName: () => entity })
    }
    this.#broker.useClock(clock)
    return openServiceBus({ ...common, clock, prefix: `t${++this.#tests}-` })
  }
}
