import { messageOf, TreadleError } from '../../../core/errors.ts'
import type { ServiceBusClientLike } from './client.ts'

interface ServiceBusModule {
  readonly ServiceBusClient: new (connectionString: string, options: object) => ServiceBusClientLike
}

/**
 * Calls are given up sooner than the SDK does by itself (after a minute, four times): workers try again by themselves, and a
 * program that sends should hear of it.
 */
const retryOptions = { maxRetries: 2, retryDelayInMs: 500, maxRetryDelayInMs: 5_000, timeoutInMs: 10_000 }

/** The SDK is loaded when it is needed: who uses another queue need not have it. */
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
    const message = `The service-bus backend needs the package "@azure/service-bus". Run: npm install @azure/service-bus (${messageOf(cause)})`
    throw new TreadleError('DRIVER_MISSING', message, { cause })
  }
}
