import { TreadleError } from '../../../core/errors.ts'
import { consoleLogger, type Logger } from '../../../core/logger.ts'
import { unknownOptions } from '../../../core/options.ts'
import { type Clock, systemClock } from '../../../core/time/clock.ts'
import type { ServiceBusClientLike } from './client.ts'
import { plainEntityName } from './entity-names.ts'
import { parseServiceBusUrl } from './url.ts'

/** Options of `openServiceBus`. */
export interface ServiceBusOptions {
  /**
   * `servicebus:` and a connection string, or `servicebus://KEYNAME:KEY@namespace.servicebus.windows.net`, unless a client is
   * given. Its parameters `queues`, `prefix`, `levels` and `maxDeliveryCount` have the same meaning as the options; `emulator`
   * connects to the emulator.
   */
  readonly url?: string
  /** A `ServiceBusClient` of `@azure/service-bus`, for other ways to authenticate. Closing the queue does not close it. */
  readonly client?: ServiceBusClientLike
  /** The queues that a worker claims from if it names none; `['default']` by default. */
  readonly queues?: readonly string[]
  /** Prefix of all entity names; empty by default. */
  readonly prefix?: string
  /** The name of a queue's entity in the namespace. Several queues may share an entity. */
  readonly entityName?: (queue: string) => string
  /**
   * Priority levels. A job at or above a level goes to a separate entity for the highest such level (`NAME.p10` for 10), which
   * workers empty first. None by default: Service Bus has no priorities, and an entity delivers its jobs in the order they were
   * sent.
   */
  readonly levels?: readonly number[]
  /** The MaxDeliveryCount of the entities; 10 by default, as in Service Bus. */
  readonly maxDeliveryCount?: number
  /**
   * Service Bus cannot enforce unique keys. They are rejected, unless another store enforces them: then they are only carried
   * with the job.
   */
  readonly uniqueKeys?: 'refused' | 'carried'
  readonly logger?: Logger
  readonly clock?: Clock
}

/** Complete and validated options. */
export interface ServiceBusConfig {
  /** Null if a client is given. */
  readonly connectionString: string | null
  readonly client: ServiceBusClientLike | null
  readonly queues: readonly string[]
  readonly entityName: (queue: string) => string
  /** Highest first. */
  readonly levels: readonly number[]
  readonly maxDeliveryCount: number
  readonly uniqueKeys: 'refused' | 'carried'
  readonly logger: Logger
  readonly clock: Clock
}

// A record, so that the compiler requires an entry for each new option.
const optionNames: Readonly<Record<keyof ServiceBusOptions, true>> = {
  url: true,
  client: true,
  queues: true,
  prefix: true,
  entityName: true,
  levels: true,
  maxDeliveryCount: true,
  uniqueKeys: true,
  logger: true,
  clock: true,
}

/** Options take precedence over the URL's parameters. */
export function serviceBusConfig(options: ServiceBusOptions): ServiceBusConfig {
  const problems = [...unknownOptions(options, Object.keys(optionNames))]
  const { url, client = null, clock = systemClock, logger = consoleLogger, uniqueKeys = 'refused' } = options
  if ((url === undefined) === (client === null)) problems.push('give either a url or a client')
  const parsed = url === undefined ? null : parseServiceBusUrl(url, problems)
  const { queues = parsed?.queues ?? ['default'], prefix = parsed?.prefix ?? '' } = options
  const { levels = parsed?.levels ?? [], maxDeliveryCount = parsed?.maxDeliveryCount ?? 10 } = options
  const entityName = options.entityName ?? ((queue: string) => plainEntityName(prefix, queue))
  if (queues.length === 0) problems.push('name at least one queue')
  if (!levels.every(Number.isSafeInteger)) problems.push('levels are priorities: whole numbers')
  if (!Number.isSafeInteger(maxDeliveryCount) || maxDeliveryCount < 1) problems.push('maxDeliveryCount is 1 or more')
  if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The service-bus backend: ${problems.join('; ')}`)
  return {
    connectionString: parsed?.connectionString ?? null,
    client,
    queues,
    entityName,
    levels: [...levels].sort((a, b) => b - a),
    maxDeliveryCount,
    uniqueKeys,
    logger,
    clock,
  }
}
