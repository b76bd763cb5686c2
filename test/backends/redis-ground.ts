import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
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

/** How many keys and fields the commands of a piece of work have asked for, by what the server tells of them. */
export async function readFields(client: Awaited<ReturnType<typeof rawClient>>, prefix: string, work: () => Promise<unknown>) {
  const { hostname, port } = new URL(redisUrl() ?? '')
  const monitor = connect(Number(port), hostname)
  const lines = createInterface({ input: monitor })
  const seen: string[][] = []
  try {
    monitor.write('MONITOR\r\n')
    await once(lines, 'line')
    const isOver = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        const args = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text as string)
        if (args[1]?.startsWith(prefix)) seen.push(args)
        if (args[1] === `${prefix}end`) resolve()
      })
    })
    await work()
    await client.get(`${prefix}end`)
    await isOver
  } finally {
    monitor.destroy()
  }
  return seen.flatMap((args) => args.slice(2)).length + seen.length
}
