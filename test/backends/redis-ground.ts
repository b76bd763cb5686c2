import { Redis } from 'ioredis'
import { engines } from '../../scripts/services/engines.mjs'
import { randomToken } from '../../src/core/id.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { openRedis, type RedisBackend, type RedisOptions } from '../../src/engines/redis/index.ts'

/** Null where there is no server to test with. */
export function redisUrl(): string | null {
  return process.env[engines.redis.variable] || null
}

/** Null where there is no Valkey: it must behave as Redis does. */
export function valkeyUrl(): string | null {
  return process.env[engines.valkey.variable] || null
}

/** Of no other test. */
export function freshPrefix(): string {
  return `test-${randomToken()}`
}

/** An empty queue. */
export function openFresh(options: Partial<RedisOptions> = {}): Promise<RedisBackend> {
  return openRedis({ url: redisUrl() ?? '', prefix: freshPrefix(), logger: silentLogger, ...options })
}

/** A connection beside the queue's. */
export async function rawClient(url = redisUrl() ?? '') {
  const client = new Redis(url, { lazyConnect: true })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.disconnect() })
}
