import { missingDriver } from '../../../queue/backend/missing-driver.ts'
import type { RedisConfig } from '../options.ts'
import type { RedisClient } from './client.ts'
import { letProcessExit } from './connection.ts'

interface IoredisModule {
  readonly Redis: new (options: Readonly<Record<string, unknown>>) => RedisClient
  readonly Cluster: new (nodes: readonly unknown[], options: Readonly<Record<string, unknown>>) => RedisClient
}

async function loadIoredis(): Promise<IoredisModule> {
  try {
    const loaded: unknown = await import('ioredis')
    return loaded as IoredisModule
  } catch (cause) {
    throw missingDriver('redis', 'ioredis', cause)
  }
}

const connectTimeout = 10_000
const longestPauseMs = 1_000

/**
 * The driver does not resend commands that a lost connection left unanswered: the call itself finds out whether they were
 * applied. Nothing is queued while disconnected, so that nothing happens after its call has failed.
 */
const common = {
  connectionName: 'treadle',
  connectTimeout,
  keepAlive: 10_000,
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: null,
  retryStrategy: (times: number) => Math.min(50 * times, longestPauseMs),
} as const

/** Creates a client that is not connected yet. */
export async function makeClient(config: RedisConfig): Promise<RedisClient> {
  const client = await newClient(config)
  letProcessExit(client)
  return client
}

async function newClient({ url, database: db, cluster, sentinel }: RedisConfig): Promise<RedisClient> {
  const { Redis, Cluster } = await loadIoredis()
  const { hostname, port, username, password, protocol } = new URL(url)
  const address = { host: hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port: Number(port || 6379) }
  const login = {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  }
  if (cluster) {
    const { lazyConnect, enableOfflineQueue, retryStrategy, ...redisOptions } = common
    const own = { lazyConnect, enableOfflineQueue, clusterRetryStrategy: retryStrategy, retryDelayOnFailover: 0 }
    return new Cluster([address], { ...own, redisOptions: { ...redisOptions, ...login } })
  }
  if (sentinel === null) return new Redis({ ...common, ...address, ...login, db })
  const sentinels = { sentinels: [{ ...address, port: Number(port || 26379) }], name: sentinel }
  return new Redis({ ...common, ...login, ...sentinels, ...(login.tls && { enableTLSForSentinelMode: true }), db })
}
