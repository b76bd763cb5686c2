import { ServiceBusBackend } from './backend.ts'
import { connect } from './connections/driver.ts'
import { type ServiceBusOptions, serviceBusConfig } from './connections/options.ts'

export type { ServiceBusBackend } from './backend.ts'
export type { ServiceBusClientLike } from './connections/client.ts'
export type { ServiceBusOptions } from './connections/options.ts'
export type { DeadJob, DeadJobFilter, DeadLetters } from './dead-letters.ts'

/** Opens the queue in an Azure Service Bus namespace. Its entities must exist: none are created. */
export async function openServiceBus(options: ServiceBusOptions): Promise<ServiceBusBackend> {
  const config = serviceBusConfig(options)
  const client = config.client ?? (await connect(config.connectionString ?? ''))
  const backend = new ServiceBusBackend(config, client)
  try {
    await backend.check()
  } catch (thrown) {
    await backend[Symbol.asyncDispose]()
    throw thrown
  }
  return backend
}
