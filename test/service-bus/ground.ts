import { ServiceBusClient } from '@azure/service-bus'
import { silentLogger } from '../../src/core/logger.ts'
import type { Clock } from '../../src/core/time/clock.ts'
import type { ServiceBusBackend } from '../../src/engines/service-bus/backend.ts'
import { openServiceBus, type ServiceBusOptions } from '../../src/engines/service-bus/index.ts'
import { type BrokerOptions, ServiceBusBroker } from './broker/broker.ts'

/** The longest that Service Bus allows, and longer than any lease of the tests. */
const longestLockMs = 300_000

/** A broker for one test, and everything that is opened on it; all of it ends with the test. */
export class ServiceBusGround implements AsyncDisposable {
  readonly broker: ServiceBusBroker
  readonly clock: Clock
  readonly #opened: AsyncDisposable[] = []

  private constructor(broker: ServiceBusBroker, clock: Clock) {
    this.broker = broker
    this.clock = clock
  }

  static async start(clock: Clock, options: Omit<BrokerOptions, 'clock'> = {}): Promise<ServiceBusGround> {
    const broker = new ServiceBusBroker({ clock, ...options, settings: { lockMs: longestLockMs, ...options.settings } })
    return new ServiceBusGround(await broker.start(), clock)
  }

  get url(): string {
    return `servicebus:${this.broker.connectionString()}`
  }

  /** A client that does not wait for long when the broker is gone. */
  impatientClient(connectionString = this.broker.connectionString()): ServiceBusClient {
    const retryOptions = { maxRetries: 1, retryDelayInMs: 100, timeoutInMs: 3_000 }
    const client = new ServiceBusClient(connectionString, { retryOptions })
    this.#opened.unshift({ [Symbol.asyncDispose]: () => client.close() })
    return client
  }

  async open(options: Partial<ServiceBusOptions> = {}): Promise<ServiceBusBackend> {
    const place = options.client === undefined && options.url === undefined ? { url: this.url } : {}
    const backend = await openServiceBus({ ...place, clock: this.clock, logger: silentLogger, ...options })
    this.#opened.push(backend)
    return backend
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#opened.reverse()) await each[Symbol.asyncDispose]()
    await this.broker[Symbol.asyncDispose]()
  }
}
