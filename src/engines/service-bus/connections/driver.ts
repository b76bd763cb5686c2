import { messageOf, TreadleError } from '../../../core/errors.ts'
import { missingDriver } from '../../../queue/backend/missing-driver.ts'
import type { ServiceBusClientLike } from './client.ts'

interface ServiceBusModule {
  readonly ServiceBusClient: new (connectionString: string, options: object) => ServiceBusClientLike
}

/**
 * Gives up sooner than the SDK's default (four attempts of a minute each): workers retry by themselves, and a sending program
 * should see the error.
 */
const retryOptions = { maxRetries: 2, retryDelayInMs: 500, maxRetryDelayInMs: 5_000, timeoutInMs: 10_000 }

export async function connect(connectionString: string): Promise<ServiceBusClientLike> {
  const { ServiceBusClient } = await loadSdk()
  try {
    return new ServiceBusClient(connectionString, { retryOptions })
  } catch (cause) {
    const message = `Service Bus cannot be opened with this connection string: ${messageOf(cause)}. Copy it from the namespace's "Shared access policies": Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…`
    throw new TreadleError('CONFIG_INVALID', message, { cause })
  }
}

async function loadSdk(): Promise<ServiceBusModule> {
  try {
    const module: object = await import('@azure/service-bus')
    return module as ServiceBusModule
  } catch (cause) {
    throw missingDriver('service-bus', '@azure/service-bus', cause)
  }
}
